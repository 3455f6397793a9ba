-- A workspace that is made without a slug, as by the version before this one, gets one from its id, which nobody else has.
ALTER TABLE workspaces
  -- Unique in the organization. Null once the workspace is deleted, so that another may have it.
  ADD COLUMN slug VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL DEFAULT (CONCAT('workspace-', LOWER(HEX(id)))),
  ADD COLUMN description VARCHAR(500) NULL,
  ADD COLUMN default_text_model VARCHAR(255) NULL,
  ADD COLUMN default_image_model VARCHAR(255) NULL,
  ADD COLUMN default_provider_sort VARCHAR(255) NULL,
  ADD COLUMN creator_user_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  ADD COLUMN updated_at DATETIME(3) NULL,
  ADD UNIQUE KEY workspaces_slug (organization_id, slug),
  ADD KEY workspaces_organization (organization_id, created_at, id)
