/** Rows without content, as high as those that will take their place. */
export function SkeletonRows({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  return Array.from({ length: rows }, (_, row) => (
    <tr key={row}>
      {Array.from({ length: columns }, (_, column) => (
        <td key={column} class={column > 0 && column < columns - 1 ? "only-wide" : undefined}>
          <div class={`skeleton ${column === 0 ? "w-name" : "w-badge"}`} />
        </td>
      ))}
    </tr>
  ));
}
