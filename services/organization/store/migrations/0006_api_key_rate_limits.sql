ALTER TABLE api_keys
  -- Requests a second, at each gateway. NULL: the key has no limit of its own.
  ADD COLUMN rate_limit INT NULL,
  ADD COLUMN rate_burst INT NULL
