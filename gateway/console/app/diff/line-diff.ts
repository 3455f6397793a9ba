import { diffArrays, diffWordsWithSpace } from "diff";

/** A piece of a line, and whether it differs from the other side. */
interface Run {
  readonly text: string;
  readonly isChanged: boolean;
}

export interface Side {
  /** The line number, from 1. */
  readonly line: number;
  readonly runs: readonly Run[];
}

/** A line of one or both texts. If both are given and differ, the line was changed from one to the other. */
export interface DiffRow {
  readonly from?: Side;
  readonly to?: Side;
  readonly isChanged: boolean;
}

export interface LineDiff {
  readonly rows: readonly DiffRow[];
  /** Whether the search for common lines was given up, because the texts are too large and too different. */
  readonly isCoarse: boolean;
}

/** Longer lines are not compared word by word: nobody can read them. */
const wordDiffLengthMax = 4_000;

/** Puts the lines of both texts side by side. Takes about `timeoutMs` at most. */
export function diffLines(from: string | undefined, to: string | undefined, timeoutMs: number): LineDiff {
  const deadline = performance.now() + timeoutMs;
  const before = linesOf(from);
  const after = linesOf(to);
  // What both texts share at their start and end is cheap to find, and is usually most of them.
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  while (
    tail < Math.min(before.length, after.length) - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++;
  const middleBefore = before.slice(head, before.length - tail);
  const middleAfter = after.slice(head, after.length - tail);
  const parts = diffArrays(middleBefore, middleAfter, { timeout: timeoutMs });

  const rows: DiffRow[] = [];
  let fromLine = 1;
  let toLine = 1;
  const addSame = (lines: readonly string[]): void => {
    for (const text of lines) {
      const runs = [{ text, isChanged: false }];
      rows.push({ from: { line: fromLine++, runs }, to: { line: toLine++, runs }, isChanged: false });
    }
  };
  const addChanged = (removed: readonly string[], added: readonly string[]): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      const [left, right] = pairOf(removed[index], added[index], deadline);
      rows.push({
        ...(left ? { from: { line: fromLine++, runs: left } } : {}),
        ...(right ? { to: { line: toLine++, runs: right } } : {}),
        isChanged: true,
      });
    }
  };

  addSame(before.slice(0, head));
  let removed: readonly string[] = [];
  for (const part of parts ?? partsByNumber(middleBefore, middleAfter)) {
    if (part.removed) removed = part.value;
    else {
      addChanged(removed, part.added ? part.value : []);
      removed = [];
      if (!part.added) addSame(part.value);
    }
  }
  addChanged(removed, []);
  addSame(before.slice(before.length - tail));
  return { rows, isCoarse: parts === undefined };
}

interface Part {
  readonly removed: boolean;
  readonly added: boolean;
  readonly value: string[];
}

/** Compares each line with the one of the same number: much of a long text is changed in place. */
function partsByNumber(before: readonly string[], after: readonly string[]): Part[] {
  const parts: Part[] = [];
  for (let index = 0; index < Math.max(before.length, after.length); index++) {
    const [from, to] = [before.slice(index, index + 1), after.slice(index, index + 1)];
    if (from[0] === to[0]) parts.push({ removed: false, added: false, value: from });
    else parts.push({ removed: true, added: false, value: from }, { removed: false, added: true, value: to });
  }
  return parts;
}

function linesOf(text: string | undefined): string[] {
  return text === undefined || text === "" ? [] : text.split("\n");
}

/** Both sides of a changed line, with the words that differ. */
function pairOf(
  before: string | undefined,
  after: string | undefined,
  deadline: number,
): [Run[] | undefined, Run[] | undefined] {
  const whole = (text: string): Run[] => [{ text, isChanged: false }];
  if (before === undefined) return [undefined, after === undefined ? undefined : whole(visible(after))];
  if (after === undefined) return [whole(visible(before)), undefined];
  const [from, to] = looksOf(before) === looksOf(after) ? [spelled(before), spelled(after)] : [before, after];
  const isLong = from.length + to.length > wordDiffLengthMax;
  const words = isLong || performance.now() > deadline ? undefined : diffWordsWithSpace(from, to, { timeout: 200 });
  if (!words) return [whole(from), whole(to)];
  const sameLength = words.reduce(
    (sum, { added, removed, value }) => sum + (added || removed ? 0 : value.trim().length),
    0,
  );
  // Two lines that share only a few letters are shown as two lines, not as one that was changed.
  if (sameLength * 2 < Math.min(from.length, to.length)) return [whole(from), whole(to)];
  const runs = (side: "added" | "removed"): Run[] =>
    words
      .filter((word) => (side === "added" ? !word.removed : !word.added))
      .map(({ value, [side]: isChanged }) => ({
        text: isChanged ? visible(value) : value,
        isChanged: Boolean(isChanged),
      }));
  return [joined(runs("removed")), joined(runs("added"))];
}

/** A space between two changed words does not separate them, even if the other side happens to have it, too. */
function joined(runs: readonly Run[]): Run[] {
  const found: Run[] = [];
  runs.forEach((run, index) => {
    const last = found.at(-1);
    const isGap = run.text.trim() === "" && last?.isChanged && runs[index + 1]?.isChanged;
    if (last?.isChanged && (run.isChanged || isGap)) found[found.length - 1] = { ...last, text: last.text + run.text };
    else found.push(run);
  });
  return found;
}

/** Characters that take no room, and spaces that look like the usual one. */
const unseen = /(?<space>(?! )\p{Zs})|\p{Cf}|[\uFE00-\uFE0F]|[^\P{Cc}\t\r]/gu;

/** What one sees of a text. */
function looksOf(text: string): string {
  return text.normalize().replace(unseen, (_, space: string | undefined) => (space ? " " : ""));
}

/** A text of which something can be seen. */
function visible(text: string): string {
  return looksOf(text) === "" ? spelled(text) : text;
}

/** A text with names for what cannot be seen, and for accents that are characters of their own. */
function spelled(text: string): string {
  return text.replace(new RegExp(`${unseen.source}|\\p{Mn}`, "gu"), (character) => {
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    return `⟨U+${code}⟩`;
  });
}
