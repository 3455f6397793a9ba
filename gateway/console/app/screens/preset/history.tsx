import { useEffect, useRef } from "preact/hooks";
import type { ListPage, PresetChange, PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import type { Loaded } from "../../api/use-loaded.ts";
import { compareHref } from "../../shell/preset-hrefs.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { ChangeList, createdVersion } from "./change-list.tsx";
import { useChangedFields } from "./use-changed-fields.ts";

/** The most changes that the API lists at once. */
export const historyMax = 100;

interface HistoryProps {
  readonly workspace: SessionWorkspace;
  readonly preset: PresetWithVersion;
  readonly loaded: Loaded<ListPage<PresetChange>>;
  /** The version on the page. */
  readonly shown: number;
  readonly showMore: () => void;
}

export function History({ workspace, preset, loaded, shown, showMore }: HistoryProps) {
  const { slug, status } = preset;
  const served = preset.designated_version.version;
  const { answer, error, isLoading, reload } = loaded;
  const changes = answer?.json.data;
  const total = answer?.json.total_count ?? 0;
  const versions = changes?.flatMap((change) => createdVersion(change) ?? []) ?? [];
  const changedFields = useChangedFields(workspace, slug, versions);

  const panel = useRef<HTMLElement>(null);
  const shownBefore = useRef<number>(undefined);
  // The button is gone by then, and the entries that it loaded begin above its place.
  useEffect(() => {
    if (shownBefore.current === undefined) return;
    const first = panel.current?.querySelectorAll<HTMLElement>(".change")[shownBefore.current];
    if (!first) return;
    shownBefore.current = undefined;
    first.tabIndex = -1;
    first.focus({ preventScroll: true });
  }, [changes?.length]);
  return (
    <aside class="panel history" ref={panel} aria-labelledby="history-title">
      <div class="panel-head">
        <h2 id="history-title">History</h2>
        {served !== shown && (
          <a class="button small" href={compareHref(workspace, slug, served, shown)}>
            Compare v{served} with v{shown}
          </a>
        )}
      </div>
      <div class="history-body">
        {changes && (
          <ChangeList
            changes={changes}
            workspace={workspace}
            slug={slug}
            isOff={status !== "active"}
            served={served}
            shown={shown}
            changedFields={changedFields}
          />
        )}
        {error && (
          <div class="panel-body">
            <ErrorPanel
              error={error}
              title={`${!changes ? "The history" : shownBefore.current === undefined ? "The latest changes" : "More of the history"} could not be loaded`}
              retry={reload}
            />
          </div>
        )}
        {!error && changes && changes.length < total && (
          <p class="panel-body">
            {changes.length < historyMax ? (
              <ActionButton
                class="small"
                run={() => {
                  shownBefore.current = changes.length;
                  showMore();
                }}
                isBusy={isLoading}
              >
                {isLoading ? "Loading …" : `Show more of ${total.toLocaleString("en")}`}
              </ActionButton>
            ) : (
              <span class="muted small">
                The last {historyMax} of {total.toLocaleString("en")} changes.
              </span>
            )}
          </p>
        )}
      </div>
    </aside>
  );
}
