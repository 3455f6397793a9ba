-- The changes of a workspace in the order of their list.
ALTER TABLE preset_changes ADD KEY preset_changes_created (workspace_id, created_at, preset_id, revision)
