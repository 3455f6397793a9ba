-- Who is signed in to the console. Rows that have not been used for long are deleted when others are made.
CREATE TABLE IF NOT EXISTS console_sessions (
  -- SHA-256 of the token; the token itself is stored nowhere.
  token_hash BINARY(32) NOT NULL,
  key_id BINARY(16) NOT NULL,
  -- That of the key's secret which the session was begun with: where the key is rotated, the session ends with that secret.
  key_hash BINARY(32) NOT NULL,
  created_at DATETIME(3) NOT NULL,
  -- To about a minute.
  last_used_at DATETIME(3) NOT NULL,
  PRIMARY KEY (token_hash),
  KEY console_sessions_used (last_used_at),
  KEY console_sessions_key (key_id, created_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC
