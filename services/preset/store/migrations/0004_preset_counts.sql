-- How many presets a workspace has, so that a list need not count them: the sum over its slots.
-- Several slots, so that processes that create presets in one workspace do not wait for each other.
CREATE TABLE IF NOT EXISTS preset_counts (
  workspace_id BINARY(16) NOT NULL,
  slot TINYINT UNSIGNED NOT NULL,
  presets INT NOT NULL,
  PRIMARY KEY (workspace_id, slot)
) ENGINE = InnoDB
