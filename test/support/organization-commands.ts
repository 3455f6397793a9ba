import { bootstrap } from "../../services/organization/commands/bootstrap.ts";
import type { DatabaseCommand } from "../../services/platform/mysql/database-command.ts";
import { openPool, type Pool } from "../../services/platform/mysql/pool.ts";
import { createOrganizationDatabase } from "./organization-database.ts";

/** What `bootstrap --json` prints. */
export interface Bootstrapped {
  readonly organization_id: string;
  readonly workspace_id: string;
  readonly admin_user_id: string;
  readonly api_key: string;
  readonly management_key: string;
}

/** The administrator's commands, with a database of their own. */
export interface TestCommands {
  readonly pool: Pool;
  readonly url: string;
  /** What a command prints; rejects with its error. */
  run(command: DatabaseCommand, ...parameters: string[]): Promise<string>;
  makeOrganization(name: string, adminEmail?: string): Promise<Bootstrapped>;
  close(): Promise<void>;
}

export async function openCommands(): Promise<TestCommands> {
  const database = await createOrganizationDatabase();
  const pool = openPool(database.url, 4);
  return {
    pool,
    url: database.url,
    run: async (command, ...parameters) => command.read(parameters)(pool),
    makeOrganization: async (name, adminEmail = "ada@example.com") =>
      JSON.parse(await bootstrap.read(["--organization", name, "--admin-email", adminEmail, "--json"])(pool)),
    close: async () => {
      await pool.end();
      await database.drop();
    },
  };
}

/** The rows of a printed list, by the names of its columns. */
export function rowsOf(table: string): Record<string, string | undefined>[] {
  const [names = [], ...lines] = table.split("\n").map((line) => line.split("\t"));
  return lines.map((cells) => Object.fromEntries(names.map((name, index) => [name, cells[index]])));
}
