/** Lines of text, each column as wide as its widest cell. Columns whose cells are numbers go to the right. */
export function textTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) =>
    Math.max(...[title, ...rows.map((row) => row[column] ?? "")].map(length)),
  );
  const isNumeric = header.map((_, column) => rows.every((row) => /^[\d,.–]*$/.test(row[column] ?? "")));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => {
        const gap = " ".repeat((widths[column] ?? 0) - length(cell));
        return isNumeric[column] ? gap + cell : cell + gap;
      })
      .join("  ")
      .trimEnd();
  return [line(header), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

function length(text: string): number {
  return text.length;
}

/** A number as people read it; a dash where there is none. */
export function numberText(value: number, digits = 0): string {
  if (!Number.isFinite(value)) return "–";
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
