ALTER TABLE api_keys
  -- The keys of a workspace, or with NULL the management keys, those that are not revoked apart, in the order of their list.
  -- With `disabled`, so that they are counted without their rows.
  ADD KEY api_keys_workspace (organization_id, workspace_id, revoked_at, created_at, id, disabled),
  -- Who leaves a workspace or the organization may have keys that work.
  ADD KEY api_keys_creator (organization_id, creator_user_id, revoked_at)
