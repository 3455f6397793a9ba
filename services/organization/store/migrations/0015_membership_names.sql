-- The names by which an organization knows a member: what it changes is no other organization's business.
ALTER TABLE memberships
  ADD COLUMN first_name VARCHAR(255) NULL,
  ADD COLUMN last_name VARCHAR(255) NULL
