-- The index before this one has all that it had.
ALTER TABLE organization_changes DROP KEY organization_changes_target
