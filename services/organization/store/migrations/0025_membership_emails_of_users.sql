-- Members keep the addresses that they had as users, so that a page of them is read without the users. Repeated, it finds
-- nothing to do.
UPDATE memberships m JOIN users u ON u.id = m.user_id
  SET m.email = u.email
  WHERE m.email IS NULL
