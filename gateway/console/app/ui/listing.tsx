import type { ComponentChildren } from "preact";

export interface Column {
  readonly title: string;
  readonly class?: string;
  /** Whether the title of the column is for screen readers only. */
  readonly isUntitled?: boolean;
  /** The width of the placeholder in an empty row. Default: that of a name. */
  readonly skeleton?: "w-text" | "w-badge";
}

interface ListingProps {
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly isStale: boolean;
  readonly class?: string;
  /** How many empty rows are shown until the first response. Default: 6. */
  readonly skeletonRows?: number;
  /** The rows; undefined until the first response. Empty rows have the same height. */
  readonly children: ComponentChildren;
}

export function Listing(props: ListingProps) {
  const { caption, columns, isStale, class: extra = "", skeletonRows = 6, children } = props;
  return (
    <div class={children && isStale ? "is-stale" : ""} aria-busy={isStale}>
      <table class={`table ${extra}`}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, class: width, isUntitled }) => (
              <th key={title} scope="col" class={width}>
                {isUntitled ? <span class="visually-hidden">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {children ??
            Array.from({ length: skeletonRows }, (_, index) => (
              <tr key={index}>
                {columns.map(({ title, class: width, isUntitled, skeleton = "w-name" }) => (
                  <td key={title} class={width}>
                    {!isUntitled && <div class={`skeleton ${skeleton}`} />}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
