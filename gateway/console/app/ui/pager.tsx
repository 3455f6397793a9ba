import { Icon } from "./icon.tsx";

interface PagerProps {
  readonly page: number;
  readonly pageSize: number;
  readonly total: number;
  readonly hrefOf: (page: number) => string;
}

export function Pager({ page, pageSize, total, hrefOf }: PagerProps) {
  const pages = Math.max(1, Math.ceil(total / pageSize));
  const first = Math.min((page - 1) * pageSize + 1, total);
  const last = Math.min(page * pageSize, total);
  return (
    <nav class="pager" aria-label="Pages">
      <span>
        {first.toLocaleString("en")}–{last.toLocaleString("en")} of {total.toLocaleString("en")}
      </span>
      {pages > 1 && (
        <span class="row">
          {page > 1 && (
            <a class="button small" href={hrefOf(page - 1)} rel="prev">
              <Icon name="back" /> Previous
            </a>
          )}
          <span>
            Page {page.toLocaleString("en")} of {pages.toLocaleString("en")}
          </span>
          {page < pages && (
            <a class="button small" href={hrefOf(page + 1)} rel="next">
              Next <Icon name="next" />
            </a>
          )}
        </span>
      )}
    </nav>
  );
}
