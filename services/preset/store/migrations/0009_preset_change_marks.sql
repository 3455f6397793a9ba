-- How many changes of a workspace are older than a time, at some times: where to begin to look for a page far from both ends.
-- Made by who reads, from what is in preset_changes, and may be deleted at any time.
CREATE TABLE IF NOT EXISTS preset_change_marks (
  workspace_id BINARY(16) NOT NULL,
  changes INT NOT NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (workspace_id, changes)
) ENGINE = InnoDB
