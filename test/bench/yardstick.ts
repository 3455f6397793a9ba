import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { ResultSetHeader } from "mysql2";
import { idFromBytes, idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { openPool, type PoolConnection, type RowDataPacket } from "../../services/platform/mysql/pool.ts";

// What the product is measured against: the least that must be done for the same answers, by ordinary good code in one
// process. It works on the same tables, but has no keys, no validation, no RPC, no change log and no safe retries.

const { PORT, PRESET_DATABASE_URL = "", ORGANIZATION_DATABASE_URL = "", POOL_SIZE } = process.env;
const yardstickUser = "user_yardstick0000000000000000000";
const noDigest = Buffer.alloc(32);
const deadlockErrno = 1213;

const presets = openPool(PRESET_DATABASE_URL, Number(POOL_SIZE));
const organizations = openPool(ORGANIZATION_DATABASE_URL, Number(POOL_SIZE));

const server = createServer((request, response) => {
  answer(request).then(
    (data) => send(response, data ? 200 : 404, data ?? { error: "not found" }),
    (error) => send(response, 500, { error: String(error) }),
  );
});

function send(response: ServerResponse, status: number, data: object): void {
  const body = JSON.stringify(data);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

async function answer(request: IncomingMessage): Promise<object | undefined> {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://yardstick");
  const [, , , resource, slug, dialect] = pathname.split("/");
  const page = [searchParams.get("limit") ?? "50", searchParams.get("offset") ?? "0"] as const;
  if (resource === "organization") return listMembers(idIn(request, "x-organization-id"), page);
  if (resource !== "presets") return { status: "ok" };
  const workspaceId = idIn(request, "x-workspace-id");
  if (slug === undefined) return listPresets(workspaceId, page);
  if (dialect === undefined) return getPreset(workspaceId, slug);
  return createVersion(workspaceId, slug, JSON.parse(await readText(request)));
}

function idIn({ headers }: IncomingMessage, name: string): Buffer {
  return idToBytes(String(headers[name]));
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

async function createVersion(workspaceId: Buffer, slug: string, { messages, ...config }: ChatBody): Promise<object> {
  const version = {
    id: newId(),
    configJson: JSON.stringify(config),
    systemPrompt: messages.find(({ role }) => role === "system")?.content ?? null,
  };
  const connection = await presets.getConnection();
  try {
    for (;;) {
      try {
        const now = new Date();
        const { row, number } = await insertVersion(connection, workspaceId, slug, version, now);
        return { data: { ...presetJson(row), designated_version: versionJson(row, version, number, config, now) } };
      } catch (error) {
        await connection.query("ROLLBACK");
        if ((error as { errno?: number }).errno !== deadlockErrno) throw error;
      }
    }
  } finally {
    connection.release();
  }
}

interface NewVersion {
  readonly id: string;
  readonly configJson: string;
  readonly systemPrompt: string | null;
}

/** One transaction. The first statement makes the preset, or locks it and takes the next number. */
async function insertVersion(
  connection: PoolConnection,
  workspaceId: Buffer,
  slug: string,
  version: NewVersion,
  now: Date,
): Promise<{ row: PresetRow; number: number }> {
  const versionId = idToBytes(version.id);
  await connection.query("START TRANSACTION");
  const id = idToBytes(newId());
  const [{ affectedRows }] = await connection.execute<ResultSetHeader>(
    `INSERT INTO presets (workspace_id, slug, id, name, status, creator_user_id, latest_version, designated_version,
      designated_version_id, revision, created_at, updated_at) VALUES (?, ?, ?, ?, 'active', ?, 1, 1, ?, 1, ?, ?)
      ON DUPLICATE KEY UPDATE latest_version = latest_version + 1, designated_version = latest_version,
        designated_version_id = VALUES(designated_version_id), revision = revision + 1, updated_at = VALUES(updated_at)`,
    [workspaceId, slug, id, slug, yardstickUser, versionId, now, now],
  );
  const isNew = affectedRows === 1;
  const row = isNew
    ? newRow(workspaceId, slug, id, versionId, now)
    : await findPresetRow(connection, workspaceId, slug);
  const number = row.latest_version;
  await connection.execute(
    `INSERT INTO preset_versions (workspace_id, preset_id, version, id, config, system_prompt, creator_id, request_id,
      request_digest, revision, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      workspaceId,
      row.id,
      number,
      versionId,
      version.configJson,
      version.systemPrompt,
      yardstickUser,
      version.id,
      noDigest,
      number,
      now,
    ],
  );
  await connection.query("COMMIT");
  return { row, number };
}

interface PresetRow {
  readonly id: Buffer;
  readonly workspace_id: Buffer;
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: string;
  readonly status_updated_at: Date | null;
  readonly creator_user_id: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly latest_version: number;
  readonly designated_version_id: Buffer;
}

const presetColumns = `p.id, p.workspace_id, p.slug, p.name, p.description, p.status, p.status_updated_at, p.creator_user_id,
  p.created_at, p.updated_at, p.latest_version, p.designated_version_id`;

function newRow(workspaceId: Buffer, slug: string, id: Buffer, versionId: Buffer, now: Date): PresetRow {
  return {
    id,
    workspace_id: workspaceId,
    slug,
    name: slug,
    description: null,
    status: "active",
    status_updated_at: null,
    creator_user_id: yardstickUser,
    created_at: now,
    updated_at: now,
    latest_version: 1,
    designated_version_id: versionId,
  };
}

async function findPresetRow(connection: PoolConnection, workspaceId: Buffer, slug: string): Promise<PresetRow> {
  const [[row]] = await connection.execute<(RowDataPacket & PresetRow)[]>(
    `SELECT ${presetColumns} FROM presets p WHERE p.workspace_id = ? AND p.slug = ?`,
    [workspaceId, slug],
  );
  return row as PresetRow;
}

async function getPreset(workspaceId: Buffer, slug: string): Promise<object | undefined> {
  const [[row]] = await presets.execute<(RowDataPacket & PresetRow)[]>(
    `SELECT ${presetColumns}, v.version, v.config, v.system_prompt, v.created_at AS version_created_at
      FROM presets p
      JOIN preset_versions v ON v.workspace_id = p.workspace_id AND v.preset_id = p.id AND v.version = p.designated_version
      WHERE p.workspace_id = ? AND p.slug = ?`,
    [workspaceId, slug],
  );
  if (!row) return undefined;
  const version = { id: idFromBytes(row.designated_version_id), systemPrompt: row.system_prompt };
  const config = JSON.parse(row.config);
  const json = versionJson(row, version, row.version, config, row.version_created_at);
  return { data: { ...presetJson(row), designated_version: json } };
}

type PageParameters = readonly [limit: string, offset: string];

async function listPresets(workspaceId: Buffer, page: PageParameters): Promise<object> {
  const [[rows], [[count]]] = await Promise.all([
    presets.execute<(RowDataPacket & PresetRow)[]>(
      `SELECT ${presetColumns} FROM presets p WHERE p.workspace_id = ?
        ORDER BY p.updated_at DESC, p.id LIMIT ? OFFSET ?`,
      [workspaceId, ...page],
    ),
    presets.execute<RowDataPacket[]>("SELECT COUNT(*) AS total FROM presets WHERE workspace_id = ?", [workspaceId]),
  ]);
  return { data: rows.map(presetJson), total_count: count?.total };
}

async function listMembers(organizationId: Buffer, page: PageParameters): Promise<object> {
  const [[rows], [[organization]]] = await Promise.all([
    organizations.execute<RowDataPacket[]>(
      `SELECT u.id, u.email, u.first_name, u.last_name, m.role
        FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.organization_id = ?
        ORDER BY m.created_at, m.user_id LIMIT ? OFFSET ?`,
      [organizationId, ...page],
    ),
    organizations.execute<RowDataPacket[]>("SELECT member_count FROM organizations WHERE id = ?", [organizationId]),
  ]);
  return { data: rows, total_count: organization?.member_count };
}

function presetJson(row: PresetRow): object {
  return {
    id: idFromBytes(row.id),
    name: row.name,
    slug: row.slug,
    description: row.description,
    status: row.status,
    status_updated_at: row.status_updated_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
    creator_user_id: row.creator_user_id,
    workspace_id: idFromBytes(row.workspace_id),
    designated_version_id: idFromBytes(row.designated_version_id),
  };
}

function versionJson(
  { id }: PresetRow,
  version: Pick<NewVersion, "id" | "systemPrompt">,
  number: number,
  config: object,
  createdAt: Date,
): object {
  return {
    id: version.id,
    preset_id: idFromBytes(id),
    version: number,
    config,
    system_prompt: version.systemPrompt,
    creator_id: yardstickUser,
    created_at: createdAt,
    updated_at: createdAt,
  };
}

server.listen(Number(PORT), "127.0.0.1");
process.once("SIGTERM", () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
