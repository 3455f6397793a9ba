import type { ComponentChildren, VNode } from "preact";
import { type List, pageSize } from "../api/use-list.ts";
import { useCommands } from "../shell/commands.ts";
import { ErrorPanel } from "./error-panel.tsx";
import { Icon } from "./icon.tsx";
import { type Column, Listing } from "./listing.tsx";
import { Pager } from "./pager.tsx";

interface ListPanelProps<T> {
  readonly title: string;
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly list: List<T>;
  readonly row: (item: T) => VNode;
  /** The button that adds to the list: its label and its action. */
  readonly add: readonly [label: string, run: () => void];
  readonly page: number;
  readonly hrefOf: (page: number) => string;
  /** Shown in place of an empty list. */
  readonly nothing?: ComponentChildren;
  /** Dialogs. */
  readonly children: ComponentChildren;
}

/** A list that can be added to, with a heading of its own. It has pages if it is longer than one. */
export function ListPanel<T>(props: ListPanelProps<T>) {
  const { title, caption, columns, list, row, add, page, hrefOf, nothing, children } = props;
  const titleId = `${title.toLowerCase()}-title`;
  const { items, total, error, isLoading, reload } = list;
  const [label, run] = add;
  useCommands([{ id: `add-to-${titleId}`, label: `${label} …`, run }]);
  return (
    <section class="panel" aria-labelledby={titleId}>
      <div class="panel-head">
        <h2 id={titleId}>{title}</h2>
        <button type="button" class="button small" onClick={run}>
          <Icon name="plus" /> {label}
        </button>
      </div>
      {error && (
        <div class="panel-body">
          <ErrorPanel error={error} title={`The ${title.toLowerCase()} could not be loaded`} retry={reload} />
        </div>
      )}
      {total === 0 && nothing
        ? nothing
        : (items || !error) && (
            <Listing caption={caption} columns={columns} isStale={isLoading}>
              {items?.map(row)}
            </Listing>
          )}
      {total !== undefined && total > pageSize && (
        <div class="panel-foot">
          <Pager page={page} total={total} isStale={isLoading} hrefOf={hrefOf} />
        </div>
      )}
      {children}
    </section>
  );
}
