-- What was done to one thing is counted and walked through without its rows, whatever else it is filtered by.
ALTER TABLE organization_changes
  ADD KEY organization_changes_of_target (organization_id, target_id, number, action, user_id)
