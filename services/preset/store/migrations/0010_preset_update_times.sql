-- Finds the updates that are too old to be repeated.
ALTER TABLE preset_updates ADD KEY preset_updates_created (workspace_id, created_at)
