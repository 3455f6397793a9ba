import { useState } from "preact/hooks";
import type { DiffRow, LineDiff, Side } from "./line-diff.ts";

const contextLines = 3;
const foldedLinesMin = 5;
/** How many rows are rendered at first. */
const rowsAtFirst = 500;

interface DiffViewProps {
  readonly diff: LineDiff;
  readonly label: string;
  /** Whether all unchanged lines are shown. */
  readonly isWhole: boolean;
}

/** Lines side by side, or one below the other on a narrow page. Signs mark the differences, not only colours. */
export function DiffView({ diff, label, isWhole }: DiffViewProps) {
  const [rowsMax, setRowsMax] = useState(rowsAtFirst);
  const parts = foldUnchanged(diff.rows, isWhole);
  let shown = 0;
  return (
    <>
      {diff.isCoarse && (
        <p class="panel-foot muted small">
          These texts are too large and too different to search for lines that moved: each line is compared with the one
          of the same number.
        </p>
      )}
      <ol class={diff.rows.length === 1 ? "diff has-one-line" : "diff"} aria-label={label}>
        {parts.map((part) => {
          if (shown >= rowsMax) return null;
          if (!Array.isArray(part)) return <FoldedRows key={`fold-${part.at}`} rows={part.rows} />;
          const rows = part.slice(0, rowsMax - shown);
          shown += rows.length;
          return rows.map((row) => <Row key={`${row.from?.line}-${row.to?.line}`} row={row} />);
        })}
      </ol>
      {diff.rows.length > rowsMax && shown >= rowsMax && (
        <p class="panel-foot">
          <button type="button" class="button small" onClick={() => setRowsMax(rowsMax + 2_000)}>
            Show more lines
          </button>
        </p>
      )}
    </>
  );
}

interface Fold {
  readonly at: number;
  readonly rows: readonly DiffRow[];
}

/** The rows, with long runs of unchanged ones folded. */
function foldUnchanged(rows: readonly DiffRow[], isWhole: boolean): (DiffRow[] | Fold)[] {
  if (isWhole) return [[...rows]];
  const isNear = new Uint8Array(rows.length);
  rows.forEach((row, index) => {
    if (row.isChanged) isNear.fill(1, Math.max(0, index - contextLines), index + contextLines + 1);
  });
  const parts: (DiffRow[] | Fold)[] = [];
  for (let at = 0; at < rows.length; ) {
    let end = at;
    while (end < rows.length && isNear[end] === isNear[at]) end++;
    const part = rows.slice(at, end);
    // A few lines are quicker to read than to unfold.
    parts.push(isNear[at] || part.length < foldedLinesMin ? part : { at, rows: part });
    at = end;
  }
  return parts;
}

function FoldedRows({ rows }: { readonly rows: readonly DiffRow[] }) {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) {
    const rest = rows.slice(rowsAtFirst);
    return (
      <>
        {rows.slice(0, rowsAtFirst).map((row) => (
          <Row key={row.from?.line} row={row} />
        ))}
        {rest.length > 0 && <FoldedRows key="rest" rows={rest} />}
      </>
    );
  }
  return (
    <li class="diff-fold">
      <button type="button" class="button bare" onClick={() => setOpen(true)}>
        {rows.length.toLocaleString("en")} unchanged lines
      </button>
    </li>
  );
}

function Row({ row }: { readonly row: DiffRow }) {
  if (!row.isChanged) {
    return (
      <li class="diff-row">
        <Cell side={row.from} sign=" " />
        <Cell side={row.to} sign=" " isTwin />
      </li>
    );
  }
  return (
    <li class="diff-row" data-change="">
      <Cell side={row.from} sign="−" />
      <Cell side={row.to} sign="+" />
    </li>
  );
}

interface CellProps {
  readonly side: Side | undefined;
  readonly sign: " " | "+" | "−";
  /** Whether the cell repeats its neighbour: then screen readers skip it, and narrow pages hide it. */
  readonly isTwin?: boolean;
}

function Cell({ side, sign, isTwin = false }: CellProps) {
  if (!side) return <div class="diff-cell is-missing" />;
  const Text = sign === "+" ? "ins" : sign === "−" ? "del" : "span";
  const kind = sign === "+" ? "is-added" : sign === "−" ? "is-removed" : isTwin ? "is-twin" : "";
  return (
    <div class={`diff-cell ${kind}`} aria-hidden={isTwin ? "true" : undefined}>
      <span class="diff-line" aria-hidden="true">
        {side.line}
      </span>
      <span class="diff-sign">{sign}</span>
      <Text class="diff-text">
        {side.runs.map(({ text, isChanged }, index) =>
          // If only the line break differs, that can be seen.
          isChanged ? <mark key={index}>{text.replaceAll("\r", "␍")}</mark> : text,
        )}
      </Text>
    </div>
  );
}
