-- How an organization writes the address of a member: that another knows them, and how it writes it, is not its business.
-- NULL: as whoever made the user did.
ALTER TABLE memberships
  ADD COLUMN email VARCHAR(320) NULL
