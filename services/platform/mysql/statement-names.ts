/** The verb and the first table of a statement. */
interface StatementNames {
  /** `SELECT`, for example. */
  readonly operation: string;
  /** `presets`, for example. */
  readonly table: string | undefined;
  /** Both together. */
  readonly title: string;
}

/** Each batch size is a text of its own; parsing it costs more than looking it up. */
const knownMax = 500;
const known = new Map<string, StatementNames>();

/** Statements are constants of ours, and their values are sent separately, so names contain no values. */
export function namesOf(sql: string): StatementNames {
  let names = known.get(sql);
  if (!names) {
    names = findNames(sql);
    if (known.size >= knownMax) known.clear();
    known.set(sql, names);
  }
  return names;
}

function findNames(sql: string): StatementNames {
  const [, verb = "statement"] = /^[\s(]*([a-z]+)/i.exec(sql) ?? [];
  // Without the subqueries of columns, whose tables come before the statement's own.
  const text = sql.replaceAll(/,\s*\(SELECT\b[^()]*\)/gi, "");
  const [, table] = /\b(?:FROM|INTO|UPDATE|JOIN)\s+(?!\()`?(\w+)/i.exec(text) ?? [];
  const operation = verb.toUpperCase();
  return { operation, table, title: table === undefined ? operation : `${operation} ${table}` };
}
