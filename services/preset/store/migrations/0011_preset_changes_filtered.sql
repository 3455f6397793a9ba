-- The changes of a user, of an action, and of both, each in the order of their list. Writes go on while they are built.
ALTER TABLE preset_changes
  ADD KEY preset_changes_user (workspace_id, user_id, created_at, preset_id, revision),
  ADD KEY preset_changes_action (workspace_id, action, created_at, preset_id, revision),
  ADD KEY preset_changes_user_action (workspace_id, user_id, action, created_at, preset_id, revision)
