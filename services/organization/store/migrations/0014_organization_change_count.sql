-- The number of the last entry of the change log. Entries have no gaps, so it is how many there are, too.
ALTER TABLE organizations ADD COLUMN change_count INT NOT NULL DEFAULT 0
