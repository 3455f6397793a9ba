/** A statement as it is sent to a database, with the state of its connection. */
interface SentStatement {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly isPrepared: boolean;
  /** Whether the connection is to Vitess, where statements are sent as text. */
  readonly isSharded: boolean;
}

/**
 * What would go wrong with a statement on Vitess, whoever sends it; undefined if nothing would. There, the preset
 * service's tables are sharded by workspace.
 */
export function lookForFault({ sql, values, isPrepared, isSharded }: SentStatement): string | undefined {
  if (/\b(LIMIT|OFFSET)\s+(?!\d)/i.test(withoutTexts(sql))) {
    return "the numbers of a page must be in the text: Vitess takes no text there, and MySQL no number";
  }
  if (/\bGET_LOCK\b/i.test(withoutTexts(sql)))
    return "a named lock loses its alias on Vitess, and is lost after half a minute";
  if (isSharded && isPrepared) return "what is prepared inside of a transaction reaches any shard";
  if (isSharded && workspacesIn(sql, values).size > 1)
    return "it is about several workspaces, which may be on several shards";
  return undefined;
}

/** What is wrong with a statement that a service sends: Vitess must find its shard by the workspace that it names. */
export function lookForShardFault(sql: string): string | undefined {
  const text = withoutTexts(sql).replaceAll(/\s+/g, " ").trim();
  if (!touchesShards(text) || /^(CREATE|ALTER|DROP) /.test(text)) return undefined;
  return namesWorkspace(text) ? undefined : "it does not name the workspace of every table that it touches";
}

/** Without the other tables of organizations, whose rows have ids or hashes of their own. */
const tenantTable =
  /\b(FROM|JOIN|UPDATE) (memberships|workspace_members|organization_changes|change_requests|key_requests)\b/g;
const tenantCondition = /\b(organization_id = (\?|\w+\.\w+)|workspace_id = \?|id IN \()/g;

/** What is wrong with a statement that a service sends: it must not reach what other organizations have. */
export function lookForTenantFault(sql: string): string | undefined {
  const text = withoutTexts(sql).replaceAll(/\s+/g, " ");
  const tables = text.match(tenantTable) ?? [];
  const conditions = text.match(tenantCondition) ?? [];
  return conditions.length >= tables.length
    ? undefined
    : "it does not name the organization of every table that it touches";
}

function touchesShards(sql: string): boolean {
  return /\b(FROM|JOIN|UPDATE|INTO)\s+(presets|preset_\w+)\b/.test(sql);
}

/** A row that is written has it as a column; each table that is read is filtered by it, or joined on it. */
function namesWorkspace(sql: string): boolean {
  const columns = sql.match(/^INSERT INTO \w+ \(([^)]*)\)/)?.[1];
  if (columns !== undefined) return /\bworkspace_id\b/.test(columns);
  const tables = sql.match(/\b(FROM|JOIN|UPDATE) preset\w+/g) ?? [];
  const conditions = sql.match(/\bworkspace_id = (\?|\w+\.workspace_id)/g) ?? [];
  return conditions.length >= tables.length;
}

/**
 * The workspaces among the values of a statement: in a condition, or as the first column of the rows that it inserts.
 */
export function workspacesIn(sql: string, values: readonly unknown[]): ReadonlySet<string> {
  if (!touchesShards(sql)) return new Set();
  const rowsBegin = /\bINSERT INTO \w+ \(workspace_id\b/.test(sql)
    ? sql.search(/\bVALUES\b/)
    : Number.POSITIVE_INFINITY;
  const placeholders = [...sql.matchAll(/\?/g)];
  const isWorkspace = ({ index }: RegExpExecArray) => {
    const before = sql.slice(0, index);
    return /\bworkspace_id = $/.test(before) || (index > rowsBegin && before.endsWith("("));
  };
  return new Set(placeholders.flatMap((each, n) => (isWorkspace(each) ? [hexOf(values[n])] : [])));
}

function hexOf(value: unknown): string {
  return Buffer.isBuffer(value) ? value.toString("hex") : String(value);
}

/** Without quoted text and comments, which may contain anything. */
function withoutTexts(sql: string): string {
  return sql.replaceAll(/'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|-- [^\n]*|\/\*.*?\*\//gs, "''");
}
