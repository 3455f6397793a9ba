-- Which request made which secret, so that a retry makes no second one. Rows are deleted after a day.
CREATE TABLE IF NOT EXISTS key_requests (
  organization_id BINARY(16) NOT NULL,
  request_id VARBINARY(255) NOT NULL,
  -- SHA-256 of what was asked for.
  request_digest BINARY(32) NOT NULL,
  key_hash BINARY(32) NOT NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (organization_id, request_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin
