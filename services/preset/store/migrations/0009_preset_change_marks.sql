-- How many changes of a workspace are older than a time, at some times, for each filter of their list: from where they are
-- counted, and where to begin to look for a page. Made by who reads, from what is in preset_changes, and may be deleted at
-- any time.
CREATE TABLE IF NOT EXISTS preset_change_marks (
  workspace_id BINARY(16) NOT NULL,
  -- Of whose changes, and which; empty: all.
  user_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  action VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  changes INT NOT NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (workspace_id, user_id, action, changes)
) ENGINE = InnoDB
