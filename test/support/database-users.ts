import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createConnection } from "mysql2/promise";
import { inject } from "vitest";
import type { TestDatabase } from "./database.ts";

/** The users of both databases, created as docs/operations.md tells an administrator to. */
export interface DatabaseUsers {
  /** The URL of a database for a documented user, such as `preset_migration`. */
  urlFor(user: string, url: string): string;
  drop(): Promise<void>;
}

/** Runs the documented statements on existing databases. */
export async function createDocumentedUsers(
  databases: Readonly<Record<"preset" | "organization", TestDatabase>>,
): Promise<DatabaseUsers> {
  const [, documented = ""] =
    readFileSync("docs/operations.md", "utf8").match(/```sql\n\s*(CREATE DATABASE [^`]+)```/) ?? [];
  const statements = documented
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
  const suffix = randomBytes(4).toString("hex");
  const password = randomBytes(12).toString("hex");
  const hereOf = (user: string) => `${user}_${suffix}`;
  const connection = await createConnection(inject("databaseServerUrl"));
  for (const [service, { name }] of Object.entries(databases)) {
    for (const statement of statements.filter((each) => !each.startsWith("CREATE DATABASE"))) {
      const sql = statement
        .replaceAll("setpoint_preset", name)
        .replaceAll(/\bpreset(_migration)?@/g, (_, role = "") => `${hereOf(`${service}${role}`)}@`)
        .replace("…", password);
      await connection.query(sql);
    }
  }
  return {
    urlFor: (user, text) => Object.assign(new URL(text), { username: hereOf(user), password }).href,
    drop: async () => {
      for (const service of Object.keys(databases)) {
        for (const role of ["", "_migration"]) await connection.query("DROP USER ?@'%'", [hereOf(`${service}${role}`)]);
      }
      await connection.end();
    },
  };
}
