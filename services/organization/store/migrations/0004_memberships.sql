-- The primary key is the order of the member list, so that a page of it is one walk over rows that lie together.
CREATE TABLE IF NOT EXISTS memberships (
  organization_id BINARY(16) NOT NULL,
  created_at DATETIME(3) NOT NULL,
  user_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  role VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (organization_id, created_at, user_id),
  UNIQUE KEY memberships_user (organization_id, user_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin
