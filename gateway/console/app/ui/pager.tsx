import { useEffect } from "preact/hooks";
import { pageSize } from "../api/use-list.ts";
import { navigate } from "../shell/location.ts";
import { Icon } from "./icon.tsx";

interface PagerProps {
  readonly page: number;
  readonly total: number;
  /** Whether the total belongs to another list, which is shown until this one is loaded. */
  readonly isStale: boolean;
  readonly hrefOf: (page: number) => string;
}

export function Pager({ page, total, isStale, hrefOf }: PagerProps) {
  const pages = Math.max(1, Math.ceil(total / pageSize));
  // An old link, or the list has become shorter: a page past the end would be blank.
  const isBehind = page > pages && !isStale;
  useEffect(() => {
    if (isBehind) navigate(hrefOf(pages), "replace");
  }, [isBehind]);
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
          {page < pages - 1 && (
            <a class="button small" href={hrefOf(pages)}>
              Last
            </a>
          )}
        </span>
      )}
    </nav>
  );
}
