CREATE TABLE IF NOT EXISTS organizations (
  id BINARY(16) NOT NULL,
  -- Stays taken after a deletion, so that a name never means two organizations.
  name VARCHAR(255) NOT NULL,
  default_workspace_id BINARY(16) NOT NULL,
  -- Changes in the transaction that changes memberships, so that a page of members need not count them.
  member_count INT NOT NULL,
  created_at DATETIME(3) NOT NULL,
  deleted_at DATETIME(3) NULL,
  PRIMARY KEY (id),
  UNIQUE KEY organizations_name (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin
