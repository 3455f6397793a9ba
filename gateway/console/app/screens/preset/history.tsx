import type { ListPage, PresetChange, SessionWorkspace } from "../../api/types.ts";
import type { Loaded } from "../../api/use-loaded.ts";
import { compareHref } from "../../shell/preset-hrefs.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { ChangeList, madeVersion } from "./change-list.tsx";
import { useChangedFields } from "./use-changed-fields.ts";

interface HistoryProps {
  readonly workspace: SessionWorkspace;
  readonly slug: string;
  readonly loaded: Loaded<ListPage<PresetChange>>;
  /** Whether the preset serves nobody. */
  readonly isOff: boolean;
  readonly served: number | undefined;
  readonly shown: number | undefined;
  readonly showMore: () => void;
}

export function History({ workspace, slug, loaded, isOff, served, shown, showMore }: HistoryProps) {
  const { answer, error, reload } = loaded;
  const changes = answer?.json.data;
  const total = answer?.json.total_count ?? 0;
  const versions = changes?.flatMap((change) => madeVersion(change) ?? []) ?? [];
  const changedFields = useChangedFields(workspace, slug, versions);
  return (
    <aside class="panel history" aria-labelledby="history-title">
      <div class="panel-head">
        <h2 id="history-title">History</h2>
        {served !== undefined && shown !== undefined && served !== shown && (
          <a class="button small" href={compareHref(workspace, slug, served, shown)}>
            Compare v{served} with v{shown}
          </a>
        )}
      </div>
      {error && (
        <div class="panel-body">
          <ErrorPanel error={error} title="The history could not be loaded" retry={reload} />
        </div>
      )}
      {changes && (
        <ChangeList
          changes={changes}
          workspace={workspace}
          slug={slug}
          isOff={isOff}
          served={served}
          shown={shown}
          changedFields={changedFields}
        />
      )}
      {changes && changes.length < total && (
        <p class="panel-body">
          {changes.length < 100 ? (
            <button type="button" class="button small" onClick={showMore}>
              Show more of {total.toLocaleString("en")}
            </button>
          ) : (
            <span class="muted small">The last 100 of {total.toLocaleString("en")} changes.</span>
          )}
        </p>
      )}
    </aside>
  );
}
