-- What an auditor reads: one row for each revision of a preset, written with the change itself.
CREATE TABLE IF NOT EXISTS preset_changes (
  workspace_id BINARY(16) NOT NULL,
  preset_id BINARY(16) NOT NULL,
  revision INT NOT NULL,
  action VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  user_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  key_id BINARY(16) NOT NULL,
  -- A JSON list of {"field", "from", "to"}.
  fields TEXT NOT NULL,
  -- Commits with the row, so that a retry of the same change cannot make two. Null for creations: their version has it.
  request_id VARBINARY(255) NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (workspace_id, preset_id, revision)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin
