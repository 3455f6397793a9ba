CREATE TABLE IF NOT EXISTS users (
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- As the user writes it.
  email VARCHAR(320) NOT NULL,
  -- In lower case, because one address in two spellings is one user. A collation would also take accents for equal.
  email_key VARCHAR(320) NOT NULL,
  first_name VARCHAR(255) NULL,
  last_name VARCHAR(255) NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY users_email (email_key)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin
