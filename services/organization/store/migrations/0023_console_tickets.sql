-- What signs someone in once. A row is deleted when its ticket is used, or some time later.
CREATE TABLE IF NOT EXISTS console_tickets (
  -- SHA-256 of the ticket; the ticket itself is stored nowhere.
  ticket_hash BINARY(32) NOT NULL,
  key_id BINARY(16) NOT NULL,
  -- As in console_sessions.
  key_hash BINARY(32) NOT NULL,
  expires_at DATETIME(3) NOT NULL,
  PRIMARY KEY (ticket_hash),
  KEY console_tickets_expires (expires_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC
