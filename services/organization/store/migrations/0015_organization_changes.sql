-- What an auditor reads: one row for each change of a key, workspace or member, written with the change itself.
CREATE TABLE IF NOT EXISTS organization_changes (
  organization_id BINARY(16) NOT NULL,
  -- 1, 2, 3, … without gaps within the organization: a page of the log is a range of numbers.
  number INT NOT NULL,
  id BINARY(16) NOT NULL,
  action VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Null where a command found no admin to name.
  user_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- Null for a command.
  key_id BINARY(16) NULL,
  target_kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  target_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  target_name VARCHAR(320) NOT NULL,
  -- A JSON list of {"field", "from", "to"}.
  fields TEXT NOT NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (organization_id, number),
  UNIQUE KEY organization_changes_id (id),
  KEY organization_changes_action (organization_id, action, number),
  KEY organization_changes_user (organization_id, user_id, action, number),
  KEY organization_changes_target (organization_id, target_id, number)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin
