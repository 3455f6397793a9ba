-- Gives each workspace a slug from its name. Where several names make the same one, the oldest workspace has it; the others,
-- and those whose names have no letter or digit for it or are UUIDs, keep the one from their id. Repeated, it finds nothing
-- to do.
UPDATE workspaces w
  JOIN (
    SELECT id, slug, ROW_NUMBER() OVER (PARTITION BY organization_id, slug ORDER BY created_at, id) AS place
    FROM (
      SELECT id, organization_id, created_at,
        TRIM(BOTH '-' FROM LEFT(TRIM(BOTH '-' FROM REGEXP_REPLACE(LOWER(name), '[^a-z0-9]+', '-')), 50)) AS slug
      FROM workspaces WHERE deleted_at IS NULL
    ) named
  ) candidate ON candidate.id = w.id
  SET w.slug = candidate.slug
  WHERE candidate.place = 1 AND candidate.slug <> '' AND w.slug = CONCAT('workspace-', LOWER(HEX(w.id)))
    AND candidate.slug NOT REGEXP '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
