import { diffArrays } from "diff";

/** A part of the common text that one side replaced: its lines from `start` up to `end`, which is not included. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** The page waits meanwhile. Two texts that need longer have hardly a line in common. */
const timeoutMs = 200;

/**
 * Merges two changes of one text line by line. Undefined if both changed the same line or lines next to each other:
 * then only a person can tell what is meant.
 */
export function mergeLines(ancestor: string, mine: string, theirs: string): string | undefined {
  const before = ancestor.split("\n");
  const [own, other] = [editsOf(before, mine), editsOf(before, theirs)];
  if (!own || !other) return undefined;
  const isOwn = (edit: Edit): boolean => own.some((each) => isSame(each, edit));
  const fresh = other.filter((edit) => !isOwn(edit));
  if (fresh.some((edit) => own.some((each) => each.start <= edit.end && edit.start <= each.end))) return undefined;
  const merged: (readonly string[])[] = [];
  let at = 0;
  for (const { start, end, lines } of [...own, ...fresh].sort((one, another) => one.start - another.start)) {
    merged.push(before.slice(at, start), lines);
    at = end;
  }
  return [...merged, before.slice(at)].flat().join("\n");
}

function editsOf(before: readonly string[], text: string): Edit[] | undefined {
  const parts = diffArrays([...before], text.split("\n"), { timeout: timeoutMs });
  if (!parts) return undefined;
  const edits: Edit[] = [];
  let at = 0;
  for (const { added, removed, value } of parts) {
    const last = edits.at(-1);
    const end = at + (added ? 0 : value.length);
    if (added || removed) {
      const lines = added ? value : [];
      // What was removed and what was added in its place are one edit.
      if (last?.end === at) edits[edits.length - 1] = { ...last, end, lines: [...last.lines, ...lines] };
      else edits.push({ start: at, end, lines });
    }
    at = end;
  }
  return edits;
}

function isSame(one: Edit, other: Edit): boolean {
  const isSamePart = one.start === other.start && one.end === other.end && one.lines.length === other.lines.length;
  return isSamePart && one.lines.every((line, index) => line === other.lines[index]);
}
