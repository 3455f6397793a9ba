-- Config is text and not JSON: MySQL's JSON type re-orders keys, and MariaDB's validity check refuses nesting that we accept.
CREATE TABLE IF NOT EXISTS preset_versions (
  workspace_id BINARY(16) NOT NULL,
  preset_id BINARY(16) NOT NULL,
  version INT NOT NULL,
  id BINARY(16) NOT NULL,
  config MEDIUMTEXT NOT NULL,
  system_prompt MEDIUMTEXT NULL,
  creator_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Commits with the row, so that a retry of the same creation cannot make two.
  request_id VARBINARY(255) NOT NULL,
  request_digest BINARY(32) NOT NULL,
  -- What a retry must be answered beside the version: the preset's revision and, unless all are as at its creation,
  -- its changeable fields.
  revision INT NOT NULL,
  preset_state TEXT NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (workspace_id, preset_id, version),
  UNIQUE KEY preset_versions_id (id),
  UNIQUE KEY preset_versions_request (workspace_id, request_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin
