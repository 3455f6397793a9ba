-- What an update was asked with and what it was answered, so that a retry gets the first answer and changes nothing.
CREATE TABLE IF NOT EXISTS preset_updates (
  workspace_id BINARY(16) NOT NULL,
  -- Commits with the change, so that a retry of the same update cannot make two.
  request_id VARBINARY(255) NOT NULL,
  request_digest BINARY(32) NOT NULL,
  -- The fields of the preset that may change, as JSON: as the update left them.
  preset_state TEXT NOT NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (workspace_id, request_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin
