-- The dialect that a config was written for. Null where that is not known.
-- At the end and nullable, so that servers add it without touching a row.
ALTER TABLE preset_versions
  ADD COLUMN dialect VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL
