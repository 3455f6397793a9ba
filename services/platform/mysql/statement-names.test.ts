import { expect, it } from "vitest";
import { namesOf } from "./statement-names.ts";

it.each([
  ["SELECT id, slug FROM presets WHERE id = ?", "SELECT", "presets"],
  ["select p.id\n  from `presets` p JOIN preset_versions v ON v.id = p.id FOR UPDATE", "SELECT", "presets"],
  ["(SELECT slug FROM presets WHERE id = ?) UNION ALL (SELECT slug FROM others)", "SELECT", "presets"],
  ["SELECT s.place FROM (SELECT 0 AS place) s JOIN api_keys k ON k.id = s.id", "SELECT", "api_keys"],
  ["SELECT m.id, COALESCE(m.email, (SELECT email FROM users WHERE id = m.id)) FROM members m", "SELECT", "members"],
  ["INSERT INTO preset_counts (id) VALUES (?) ON DUPLICATE KEY UPDATE total = total + 1", "INSERT", "preset_counts"],
  ["UPDATE presets SET name = ?", "UPDATE", "presets"],
  ["DELETE FROM workspace_members WHERE id = ?", "DELETE", "workspace_members"],
  ["START TRANSACTION READ ONLY", "START", undefined],
  ["COMMIT", "COMMIT", undefined],
  ["SELECT 1", "SELECT", undefined],
  ["", "STATEMENT", undefined],
])("returns the operation and the table of a statement: %s", (sql, operation, table) => {
  expect(namesOf(sql)).toMatchObject({ operation, table });
});
