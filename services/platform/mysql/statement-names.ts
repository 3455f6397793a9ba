/** What a statement does, and with which table first. */
interface StatementNames {
  /** `SELECT`, for example. */
  readonly operation: string;
  /** `presets`, for example. */
  readonly table: string | undefined;
  /** Both. */
  readonly title: string;
}

/** A batch of each size is a text of its own; to find its names costs more than to look them up. */
const knownMax = 500;
const known = new Map<string, StatementNames>();

/** Statements are constants of ours, whose values are sent beside them: of those nothing is known. */
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
  const [, table] = /\b(?:FROM|INTO|UPDATE|JOIN)\s+(?!\()`?(\w+)/i.exec(sql) ?? [];
  const operation = verb.toUpperCase();
  return { operation, table, title: table === undefined ? operation : `${operation} ${table}` };
}
