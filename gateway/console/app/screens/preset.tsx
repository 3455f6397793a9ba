import { useState } from "preact/hooks";
import { designatedVersion, presetPath, versionCountPath } from "../api/presets.ts";
import { reasonForbidden } from "../api/session.ts";
import type { ListPage, One, PresetChange, PresetVersion, PresetWithVersion } from "../api/types.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { Page } from "../shell/page.tsx";
import { newPresetHref, presetsHref } from "../shell/preset-hrefs.ts";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { DraftNotice } from "./preset/draft-notice.tsx";
import { History, historyMax } from "./preset/history.tsx";
import { PresetActions } from "./preset/preset-actions.tsx";
import { PresetIntro } from "./preset/preset-intro.tsx";
import { PresetSkeleton } from "./preset/preset-skeleton.tsx";
import { ServingBar } from "./preset/serving-bar.tsx";
import { ShownVersionPanel } from "./preset/shown-version-panel.tsx";
import { Snippets } from "./preset/snippets.tsx";
import { useDesignation } from "./preset/use-designation.tsx";
import { usePresetChanges } from "./preset/use-preset-changes.ts";
import { useShownVersion } from "./preset/use-shown-version.ts";
import type { PresetScreenProps } from "./screen-props.ts";

export function Preset({ workspace, query, slug }: PresetScreenProps) {
  const loaded = useLoaded<One<PresetWithVersion>>(presetPath(workspace, slug));
  const count = useLoaded<ListPage<PresetVersion>>(versionCountPath(workspace, slug));
  const reload = (): void => {
    loaded.reload();
    count.reload();
  };
  const [historyLength, setHistoryLength] = useState(20);
  const { changes, revision } = usePresetChanges(workspace, slug, historyLength, reload);
  const reloadAll = (): void => {
    reload();
    changes.reload();
  };

  const { answer, error } = loaded;
  const served = answer && designatedVersion(answer);
  const shown = useShownVersion(workspace, slug, served, Number(query.get("v")) || undefined);
  const etag = answer?.etag;
  const { designate, isBusy, dialog } = useDesignation({ workspace, slug, etag, revision, changed: reloadAll });

  // Everything is shown at once, so that nothing moves when the last part arrives.
  const isReady = shown.content && (count.answer || count.error) && (changes.answer || changes.error);
  const preset = isReady ? answer?.json.data : undefined;
  const title = preset?.name || slug;
  const newest = count.answer?.json.total_count;
  const isMissing = error?.status === 404;
  // The number is known by the time that anything is shown.
  const { wanted, version = 1 } = shown;
  return (
    <Page
      title={shown.isServed ? title : `${title} v${wanted}`}
      heading={
        <span class="row">
          <span class="heading-name" title={title}>
            {title}
          </span>{" "}
          {preset && <StatusBadge status={preset.status} />}
        </span>
      }
      crumbs={[["Presets", presetsHref(workspace)]]}
      actions={
        preset && (
          <PresetActions preset={preset} etag={etag} workspace={workspace} changed={reloadAll} shown={version} />
        )
      }
    >
      {error && (
        <ErrorPanel
          error={error}
          title={isMissing ? "There is no such preset" : "The preset could not be loaded"}
          retry={isMissing ? undefined : reloadAll}
          link={
            isMissing && reasonForbidden("write") === undefined
              ? ["Create it", newPresetHref(workspace, { slug })]
              : undefined
          }
        />
      )}
      {preset && served && shown.content ? (
        <>
          <PresetIntro key="intro" preset={preset} />
          <DraftNotice workspace={workspace} slug={slug} />
          <ServingBar
            workspace={workspace}
            preset={preset}
            newest={newest}
            before={servedBefore(changes.answer?.json.data ?? [], served.version)}
            shown={version}
            isBusy={isBusy}
            designate={(to) => designate(to, served.version)}
          />
          <div class="preset-columns">
            <ShownVersionPanel
              workspace={workspace}
              slug={slug}
              query={query}
              shown={shown}
              served={served.version}
              newest={newest}
            />
            <History
              workspace={workspace}
              preset={preset}
              loaded={changes}
              shown={version}
              showMore={() => setHistoryLength(historyMax)}
            />
            {!shown.error && <Snippets slug={slug} version={shown.isServed ? undefined : shown.content.version} />}
          </div>
        </>
      ) : (
        !error && <PresetSkeleton key="skeleton" />
      )}
      {dialog}
    </Page>
  );
}

/** The version that was served before this one, if these changes tell. They are ordered newest first. */
function servedBefore(changes: readonly PresetChange[], served: number): number | undefined {
  const designations = changes.flatMap(({ changes: fields }) =>
    fields.filter(({ field }) => field === "designated_version"),
  );
  const last = designations[0];
  return last?.to === served && typeof last.from === "number" ? last.from : undefined;
}
