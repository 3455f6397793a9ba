ALTER TABLE api_keys
  -- The first and last characters of the secret. Null for a key that was made before they were kept.
  ADD COLUMN label VARCHAR(32) NULL,
  -- SHA-256 of the secret before the last rotation, which works until the time beside it.
  ADD COLUMN previous_key_hash BINARY(32) NULL,
  ADD COLUMN previous_expires_at DATETIME(3) NULL,
  ADD COLUMN updated_at DATETIME(3) NULL,
  ADD UNIQUE KEY api_keys_previous_hash (previous_key_hash)
