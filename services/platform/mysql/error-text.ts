/** What Vitess appends to an error: the statement with all bound values. */
const statementBehind = /(: |, )?\b(Sql: "|BindVars: \{)|\bduring query: /;

/** A quote that opens a value, as MySQL or Go writes it; not the one inside "doesn't". */
const openingQuote = /(?<!\w)['"]/;

/** Quoted names that belong to the schema. Anything else in quotes may be or contain a value. */
const quotedName =
  /\b(?:column|constraint|database|function|index|key|table|user|variable) '[\w.$%-]+'(?:@'[\w.:%-]+')?/gi;

/** Text after the last value, at the end of a message, that is worth keeping. */
const behindValues =
  /'((?: for key '[\w.$]+'| for column [\w.$`']+ at row \d+| at line \d+)?(?: \(errno \d+\))?(?: \(sqlstate \w+\))?)(?: \(CallerID: [^()']*\))?$/;

/**
 * The message of a database error in a form that may be logged. Databases quote values: a duplicate entry, or the place
 * of an error in a statement, which contains all values if it is sent as text; and Vitess appends the statement itself.
 */
export function withoutQuotedValues(message: string): string {
  const [text = ""] = message.split(statementBehind, 1);
  // Names are replaced by dashes of the same length, so that positions stay the same.
  const values = text.replaceAll(quotedName, (name) => "-".repeat(name.length));
  const start = values.search(openingQuote);
  if (start < 0) return text;
  return `${text.slice(0, start)}'…'${text.slice(start).match(behindValues)?.[1] ?? ""}`;
}

/** Makes the error of a statement fit for the log: removes all values that mysql2 and databases put into it. */
export function withoutValues(error: Error & { sql?: string; sqlMessage?: string }, sql: string): Error {
  const { message, stack } = error;
  error.message = withoutQuotedValues(message);
  if (error.sql !== undefined) error.sql = sql;
  if (error.sqlMessage !== undefined) error.sqlMessage = withoutQuotedValues(error.sqlMessage);
  if (stack !== undefined && error.message !== message) error.stack = stack.replaceAll(message, () => error.message);
  return error;
}
