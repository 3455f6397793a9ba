/** A statement as it is sent to a database, with how its connection stands. */
export interface SentStatement {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly isPrepared: boolean;
  /** On a connection to Vitess, which is spoken to as text. */
  readonly isSharded: boolean;
}

/**
 * What would go wrong on Vitess with a statement, whoever sends it; undefined where nothing would. The tables of the
 * preset service are sharded by workspace there.
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

/** What is wrong with a statement that a service sends: it must find its shard by the workspace that it names. */
export function lookForShardFault(sql: string): string | undefined {
  const text = withoutTexts(sql).replaceAll(/\s+/g, " ").trim();
  if (!touchesShards(text) || /^(CREATE|ALTER|DROP) /.test(text)) return undefined;
  return namesWorkspace(text) ? undefined : "it does not name the workspace of every table that it touches";
}

function touchesShards(sql: string): boolean {
  return /\b(FROM|JOIN|UPDATE|INTO)\s+(presets|preset_\w+)\b/.test(sql);
}

/** What is written has it as a column; each table that is read is restricted by it, or joined on it. */
function namesWorkspace(sql: string): boolean {
  const columns = sql.match(/^INSERT INTO \w+ \(([^)]*)\)/)?.[1];
  if (columns !== undefined) return /\bworkspace_id\b/.test(columns);
  const tables = sql.match(/\b(FROM|JOIN|UPDATE) preset\w+/g) ?? [];
  const conditions = sql.match(/\bworkspace_id = (\?|\w+\.workspace_id)/g) ?? [];
  return conditions.length >= tables.length;
}

/** The workspaces that the values of a statement name: by a condition, or as the first column of the rows that it writes. */
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

/** Without what stands in quotes and comments, where anything may be. */
function withoutTexts(sql: string): string {
  return sql.replaceAll(/'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|-- [^\n]*|\/\*.*?\*\//gs, "''");
}
