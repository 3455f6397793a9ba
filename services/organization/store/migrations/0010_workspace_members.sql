-- Who belongs to a workspace beside the default one, which has everyone. The primary key is the order of the list.
CREATE TABLE IF NOT EXISTS workspace_members (
  workspace_id BINARY(16) NOT NULL,
  created_at DATETIME(3) NOT NULL,
  user_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- So that who leaves an organization leaves its workspaces by one index.
  organization_id BINARY(16) NOT NULL,
  PRIMARY KEY (workspace_id, created_at, user_id),
  UNIQUE KEY workspace_members_user (workspace_id, user_id),
  KEY workspace_members_organization (organization_id, user_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin
