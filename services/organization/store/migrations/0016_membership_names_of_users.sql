-- Members keep the names that they had as users. Repeated, it finds nothing to do.
UPDATE memberships m JOIN users u ON u.id = m.user_id
  SET m.first_name = u.first_name, m.last_name = u.last_name
  WHERE m.first_name IS NULL AND m.last_name IS NULL AND (u.first_name IS NOT NULL OR u.last_name IS NOT NULL)
