CREATE TABLE IF NOT EXISTS api_keys (
  id BINARY(16) NOT NULL,
  -- SHA-256 of the key; the key itself is stored nowhere.
  key_hash BINARY(32) NOT NULL,
  name VARCHAR(255) NOT NULL,
  kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Separated by commas. Empty for a management key, which has all.
  permissions VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  organization_id BINARY(16) NOT NULL,
  -- The one workspace of an API key. NULL for a management key, which reaches all of its organization.
  workspace_id BINARY(16) NULL,
  creator_user_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  disabled BOOLEAN NOT NULL,
  created_at DATETIME(3) NOT NULL,
  expires_at DATETIME(3) NULL,
  revoked_at DATETIME(3) NULL,
  -- To about a minute.
  last_used_at DATETIME(3) NULL,
  PRIMARY KEY (id),
  UNIQUE KEY api_keys_hash (key_hash),
  KEY api_keys_organization (organization_id, created_at, id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin
