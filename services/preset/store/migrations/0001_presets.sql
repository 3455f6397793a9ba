-- A tenant's rows lie together: the primary key begins with the workspace, and so does every statement.
CREATE TABLE IF NOT EXISTS presets (
  workspace_id BINARY(16) NOT NULL,
  slug VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  id BINARY(16) NOT NULL,
  name VARCHAR(255) NOT NULL,
  description VARCHAR(2000) NULL,
  status VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  status_updated_at DATETIME(3) NULL,
  creator_user_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- The highest version that exists; the next one is this plus 1.
  latest_version INT NOT NULL,
  designated_version INT NOT NULL,
  designated_version_id BINARY(16) NOT NULL,
  -- Counts the changes of the preset: its etag, and the number of its newest entry in preset_changes.
  revision INT NOT NULL,
  created_at DATETIME(3) NOT NULL,
  updated_at DATETIME(3) NOT NULL,
  PRIMARY KEY (workspace_id, slug),
  UNIQUE KEY presets_id (id),
  -- The order of the list. It holds the primary key as well, so a page is found in the index alone.
  KEY presets_updated (workspace_id, updated_at DESC, id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin
