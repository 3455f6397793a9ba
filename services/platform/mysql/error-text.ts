/** What Vitess says behind an error: the statement with all that was bound to it. */
const statementBehind = /(: |, )?\b(Sql: "|BindVars: \{)|\bduring query: /;

/** A quote that opens a value, as MySQL or as Go writes it; not the one inside of "doesn't". */
const openingQuote = /(?<!\w)['"]/;

/** Quoted names of what belongs to the schema. Anything else in quotes may be a value, or hold one. */
const quotedName =
  /\b(?:column|constraint|database|function|index|key|table|user|variable) '[\w.$%-]+'(?:@'[\w.:%-]+')?/gi;

/** What may follow the last value, up to the end, and is good to know. */
const behindValues =
  /'((?: for key '[\w.$]+'| for column [\w.$`']+ at row \d+| at line \d+)?(?: \(errno \d+\))?(?: \(sqlstate \w+\))?)(?: \(CallerID: [^()']*\))?$/;

/**
 * The message of an error of a database as it may be logged. Databases quote values: an entry that is there twice, the
 * place of a fault in a statement, which as text has all of them; and Vitess adds the statement itself.
 */
export function withoutQuotedValues(message: string): string {
  const [text = ""] = message.split(statementBehind, 1);
  // Names are as long as before, so that places stay what they are.
  const values = text.replaceAll(quotedName, (name) => "-".repeat(name.length));
  const start = values.search(openingQuote);
  if (start < 0) return text;
  return `${text.slice(0, start)}'…'${text.slice(start).match(behindValues)?.[1] ?? ""}`;
}

/** Makes the error of a statement one that may be logged: nothing is left of the values that mysql2 and databases put into it. */
export function withoutValues(error: Error & { sql?: string; sqlMessage?: string }, sql: string): Error {
  const { message, stack } = error;
  error.message = withoutQuotedValues(message);
  if (error.sql !== undefined) error.sql = sql;
  if (error.sqlMessage !== undefined) error.sqlMessage = withoutQuotedValues(error.sqlMessage);
  if (stack !== undefined && error.message !== message) error.stack = stack.replaceAll(message, () => error.message);
  return error;
}
