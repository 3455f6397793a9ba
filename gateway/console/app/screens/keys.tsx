import { useState } from "preact/hooks";
import { reasonNotTo } from "../api/session.ts";
import type { Key } from "../api/types.ts";
import { pageIn, pageParameters, pageSize, useList } from "../api/use-list.ts";
import { hrefTo } from "../shell/location.ts";
import { Page } from "../shell/page.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { Icon } from "../ui/icon.tsx";
import { NotYours } from "../ui/not-yours.tsx";
import { Pager } from "../ui/pager.tsx";
import { KeyTable } from "./keys/key-table.tsx";
import { NewKey } from "./keys/new-key.tsx";
import type { ScreenProps } from "./screen-props.ts";

export function Keys({ workspace, query }: ScreenProps) {
  const reason = reasonNotTo("administer");
  const [isMaking, setMaking] = useState(false);
  const isWhole = query.get("disabled") !== "hidden";
  const page = pageIn(query);
  const parameters = new URLSearchParams({
    workspace_id: workspace.id,
    include_disabled: String(isWhole),
    ...pageParameters(page),
  });
  const list = useList<Key>(reason ? undefined : `/api/v1/keys?${parameters}`, ["key", "keys"]);
  const { items, total, error, isLoading, reload } = list;

  const hrefWith = (disabled: string | undefined, to = 1): string =>
    hrefTo([workspace.slug, "keys"], { disabled, page: to > 1 ? to : undefined });
  return (
    <Page
      title="Keys"
      actions={
        !reason && (
          <button type="button" class="button primary" onClick={() => setMaking(true)}>
            <Icon name="plus" /> Create a key
          </button>
        )
      }
    >
      {reason ? (
        <NotYours reason={reason} actions={["Create a key"]} />
      ) : (
        <nav class="chips" aria-label="Which keys">
          <a class="chip" href={hrefWith(undefined)} aria-current={isWhole ? "true" : undefined}>
            All
          </a>
          <a class="chip" href={hrefWith("hidden")} aria-current={isWhole ? undefined : "true"}>
            Enabled
          </a>
        </nav>
      )}
      {error && <ErrorPanel error={error} title="The keys could not be loaded" retry={reload} />}
      {total === 0 ? (
        <div class="panel empty">
          <h2>No keys</h2>
          <p class="wrap">
            {workspace.name} has no {isWhole ? "" : "enabled "}key. A program that reads, writes or uses the presets of
            this workspace needs one.
          </p>
        </div>
      ) : (
        !reason &&
        (items || !error) && (
          <KeyTable
            keys={items}
            isStale={isLoading}
            // Management keys are all in one list; where it has one page, it is known which is the last.
            isWholeList={total !== undefined && total <= pageSize}
            workspace={workspace}
            changed={reload}
          />
        )
      )}
      {total !== undefined && total > 0 && (
        <Pager
          page={page}
          pageSize={pageSize}
          total={total}
          isStale={isLoading}
          hrefOf={(to) => hrefWith(isWhole ? undefined : "hidden", to)}
        />
      )}
      {isMaking && <NewKey workspace={workspace} close={() => setMaking(false)} changed={reload} />}
    </Page>
  );
}
