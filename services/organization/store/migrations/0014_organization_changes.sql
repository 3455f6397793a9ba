-- What an auditor reads: one row for each change of a key, workspace or member, written with the change itself.
-- Numbers are 1, 2, 3, … without gaps, in all and within each action, user, and action of a user: a page of the log, filtered
-- or not, is a range of numbers, and the last number is how many there are.
CREATE TABLE IF NOT EXISTS organization_changes (
  organization_id BINARY(16) NOT NULL,
  number INT NOT NULL,
  action_number INT NOT NULL,
  user_number INT NULL,
  user_action_number INT NULL,
  id BINARY(16) NOT NULL,
  action VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Null, as its numbers are, where a command found no admin to name.
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
  UNIQUE KEY organization_changes_action (organization_id, action, action_number),
  UNIQUE KEY organization_changes_user (organization_id, user_id, user_number),
  UNIQUE KEY organization_changes_user_action (organization_id, user_id, action, user_action_number),
  KEY organization_changes_target (organization_id, target_id, number)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin
