import { useState } from "preact/hooks";
import { listedMax } from "../api/list-all.ts";
import { personName } from "../api/people.ts";
import { reasonForbidden } from "../api/session.ts";
import type { Key } from "../api/types.ts";
import { pageIn } from "../api/use-list.ts";
import { useSearchedList } from "../api/use-searched-list.ts";
import { useCommands } from "../shell/commands.ts";
import { hrefTo, navigate } from "../shell/location.ts";
import { Page } from "../shell/page.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { Icon } from "../ui/icon.tsx";
import { NoPermission } from "../ui/no-permission.tsx";
import { Pager } from "../ui/pager.tsx";
import { SearchField } from "../ui/search-field.tsx";
import { matchesSearch, withoutSecret } from "./keys/key-search.ts";
import { KeyTable } from "./keys/key-table.tsx";
import { NewKey } from "./keys/new-key.tsx";
import type { ScreenProps } from "./screen-props.ts";

export function Keys({ workspace, query }: ScreenProps) {
  const reason = reasonForbidden("administer");
  const [isMaking, setMaking] = useState(false);
  const hasDisabled = query.get("disabled") !== "hidden";
  const q = query.get("q") ?? "";
  const page = pageIn(query);
  const {
    items,
    total,
    error,
    isLoading,
    reload,
    all,
    isCutShort: isTruncated,
  } = useSearchedList<Key>({
    path: "/api/v1/keys",
    filter: { workspace_id: workspace.id, include_disabled: String(hasDisabled) },
    q,
    fits: (key) => matchesSearch(key, personName(key.creator_user_id), q),
    page,
    isAllowed: !reason,
    words: ["key", "keys"],
  });

  useCommands(reason ? [] : [{ id: "new-key", label: "Create a key …", run: () => setMaking(true) }]);

  const hrefWith = (change: { q?: string; disabled?: string | undefined; page?: number }): string => {
    const { page: to = 1, ...filter } = { q, disabled: hasDisabled ? undefined : "hidden", ...change };
    return hrefTo([workspace.slug, "keys"], { ...filter, page: to > 1 ? to : undefined });
  };
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
        <NoPermission reason={reason} actions={["Create a key"]} />
      ) : (
        <div class="toolbar">
          <SearchField
            q={q}
            go={(text, how) => navigate(hrefWith({ q: text }), how)}
            clean={withoutSecret}
            label="Search keys by name, label or creator"
            placeholder="Search by name, label or creator"
          />
          <nav class="chips" aria-label="Which keys">
            <a class="chip" href={hrefWith({ disabled: undefined })} aria-current={hasDisabled ? "true" : undefined}>
              All
            </a>
            <a class="chip" href={hrefWith({ disabled: "hidden" })} aria-current={hasDisabled ? undefined : "true"}>
              Enabled
            </a>
          </nav>
        </div>
      )}
      {isTruncated && <p class="muted">Only the newest {listedMax.toLocaleString("en")} keys are searched.</p>}
      {error && <ErrorPanel error={error} title="The keys could not be loaded" retry={reload} />}
      {total === 0 && q ? (
        <div class="panel empty">
          <h2>No key matches</h2>
          <p class="wrap">
            No {hasDisabled ? "" : "enabled "}key of {workspace.name} has “{q}” in its name or label, or in the name of
            its creator.
          </p>
          <a class="button" href={hrefTo([workspace.slug, "keys"])}>
            Show all keys
          </a>
        </div>
      ) : total === 0 ? (
        <div class="panel empty">
          <h2>No keys</h2>
          <p class="wrap">
            {workspace.name} has no {hasDisabled ? "" : "enabled "}key. A program that reads, writes or uses the presets
            of this workspace needs one.
          </p>
        </div>
      ) : (
        !reason &&
        (items || !error) && (
          <KeyTable keys={items} isStale={isLoading} all={all} workspace={workspace} changed={reload} />
        )
      )}
      {total !== undefined && total > 0 && (
        <Pager page={page} total={total} isStale={isLoading} hrefOf={(to) => hrefWith({ page: to })} />
      )}
      {isMaking && <NewKey workspace={workspace} close={() => setMaking(false)} changed={reload} />}
    </Page>
  );
}
