/** A part of a text that is replaced. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly parts: readonly Buffer[];
}

/** The bytes with these edits, which are in order and do not overlap. What is not edited is not copied. */
export function spliced(bytes: Buffer, edits: readonly Edit[], start = 0, end = bytes.length): Buffer[] {
  const parts: Buffer[] = [];
  let copied = start;
  for (const edit of edits) {
    if (edit.from > copied) parts.push(bytes.subarray(copied, edit.from));
    parts.push(...edit.parts);
    copied = edit.to;
  }
  if (end > copied) parts.push(bytes.subarray(copied, end));
  return parts;
}
