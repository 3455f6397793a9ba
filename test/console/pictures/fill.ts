import { createConnection } from "mysql2/promise";
import type { Credentials } from "../../support/local-system.ts";
import { type Author, keys, type Step, steps, workspaces } from "./content.ts";

interface DatabaseCredentials extends Credentials {
  readonly preset_database_url: string;
}

/** Fills a system that has just been started with what the pictures show. */
export async function fillSystem(credentials: Credentials): Promise<void> {
  const call = async <T>(method: string, path: string, key: string, body?: object): Promise<T> => {
    const response = await fetch(`${credentials.base_url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body ? { "content-type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text);
  };
  const administer = <T>(path: string, body?: object) =>
    call<T>(body ? "POST" : "GET", path, credentials.management_key, body);

  const members = await administer<{ data: { id: string; email: string }[] }>("/organization/members");
  const userIdOf = (author: Author) => members.data.find(({ email }) => email.startsWith(author))?.id;
  const keyOf = new Map<Author, string>();
  for (const { name, author, permissions } of keys) {
    await administer("/keys", { name, permissions, creator_user_id: userIdOf(author) });
    const writer = { name: `${author}’s laptop`, creator_user_id: userIdOf(author) };
    keyOf.set(author, (await administer<{ key: string }>("/keys", writer)).key);
  }
  for (const workspace of workspaces) await administer("/workspaces", workspace);

  const database = await createConnection({
    uri: (credentials as DatabaseCredentials).preset_database_url,
    timezone: "Z",
  });
  for (const step of steps) {
    const key = keyOf.get(step.author) ?? "";
    const { slug, create, patch } = step;
    if (create) await call("POST", `/presets/${slug}/${create.dialect ?? "chat/completions"}`, key, create.body);
    if (patch) await call("PATCH", `/presets/${slug}`, key, patch);
    await makeOlder(step);
  }
  await database.end();

  /** What was stored last of a preset is as old as its step says: nobody can wait for that. */
  async function makeOlder({ slug, hoursAgo }: Step): Promise<void> {
    const then = new Date(Date.now() - hoursAgo * 3_600_000);
    const lately = new Date(Date.now() - 60_000);
    for (const table of ["preset_versions", "preset_changes"]) {
      await database.query(
        `UPDATE ${table} t JOIN presets p ON p.id = t.preset_id SET t.created_at = ? WHERE p.slug = ? AND t.created_at > ?`,
        [then, slug, lately],
      );
    }
    await database.query("UPDATE presets SET updated_at = ?, created_at = LEAST(created_at, ?) WHERE slug = ?", [
      then,
      then,
      slug,
    ]);
  }
}
