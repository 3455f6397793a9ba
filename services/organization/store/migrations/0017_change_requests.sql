-- What a change was asked with and what it was answered, so that a repeat gets the first answer. Rows are deleted after a day.
CREATE TABLE IF NOT EXISTS change_requests (
  organization_id BINARY(16) NOT NULL,
  -- Commits with the change, so that its repeat finds both or neither.
  request_id VARBINARY(255) NOT NULL,
  -- SHA-256 of what was asked for.
  request_digest BINARY(32) NOT NULL,
  -- The response message, in protobuf. Never one with a secret.
  answer MEDIUMBLOB NOT NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (organization_id, request_id),
  KEY change_requests_created (organization_id, created_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC
