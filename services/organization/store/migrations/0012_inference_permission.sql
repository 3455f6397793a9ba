-- Keys that may do everything go on doing so. Repeated, it finds nothing to do.
UPDATE api_keys SET permissions = CONCAT(permissions, ',inference')
  WHERE kind = 'api' AND FIND_IN_SET('presets:read', permissions) > 0 AND FIND_IN_SET('presets:write', permissions) > 0
    AND FIND_IN_SET('inference', permissions) = 0
