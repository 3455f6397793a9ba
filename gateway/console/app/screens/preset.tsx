import { useEffect, useRef, useState } from "preact/hooks";
import { designatedVersion, presetPath, versionContent, versionCountPath } from "../api/presets.ts";
import { reasonNotTo } from "../api/session.ts";
import type { ListPage, One, PresetChange, PresetVersion, PresetWithVersion } from "../api/types.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { Page } from "../shell/page.tsx";
import { compareHref, newPresetHref, presetHref, presetsHref } from "../shell/preset-hrefs.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { History } from "./preset/history.tsx";
import { PresetActions } from "./preset/preset-actions.tsx";
import { ServingBar } from "./preset/serving-bar.tsx";
import { Snippets } from "./preset/snippets.tsx";
import { useDesignation } from "./preset/use-designation.tsx";
import { PresetSkeleton, VersionView } from "./preset/version-view.tsx";
import type { PresetScreenProps } from "./screen-props.ts";

export function Preset({ workspace, query, slug }: PresetScreenProps) {
  const preset = useLoaded<One<PresetWithVersion>>(presetPath(workspace, slug));
  const count = useLoaded<ListPage<PresetVersion>>(versionCountPath(workspace, slug));
  const [historyLength, setHistoryLength] = useState(20);
  // The log is small, so it is what is asked again and again whether a colleague has changed something.
  const changes = useLoaded<ListPage<PresetChange>>(
    presetPath(workspace, slug, `/changes?limit=${historyLength}`),
    10_000,
  );
  const revision = changes.answer?.json.data[0]?.revision;
  const [shownRevision, setShownRevision] = useState<number>();
  useEffect(() => {
    if (revision === undefined) return;
    if (shownRevision !== undefined && revision !== shownRevision) {
      preset.reload();
      count.reload();
    }
    setShownRevision(revision);
  }, [revision]);
  const reloadAll = (): void => {
    preset.reload();
    count.reload();
    changes.reload();
  };

  const data = preset.answer?.json.data;
  const served = preset.answer && designatedVersion(preset.answer);
  const wanted = Number(query.get("v")) || served?.version;
  const isServed = wanted === served?.version;
  const other = useLoaded<One<PresetVersion>>(
    wanted !== undefined && served && !isServed ? presetPath(workspace, slug, `/versions/${wanted}`) : undefined,
  );
  const otherContent = other.answer && versionContent(other.answer);
  const loaded = isServed ? served : otherContent?.version === wanted ? otherContent : undefined;
  // The version before stays while the next one is on its way, so that nothing moves.
  const last = useRef(loaded);
  if (loaded) last.current = loaded;
  // Of a version that cannot be shown, the rest of the preset still is.
  const isLost = other.error !== undefined && !loaded;
  const shown = last.current ?? (isLost ? served : undefined);
  const looked = isLost ? served?.version : wanted;
  const newest = count.answer?.json.total_count;
  const { designate, isBusy, dialog } = useDesignation({
    workspace,
    slug,
    etag: preset.answer?.etag,
    revision,
    changed: reloadAll,
  });

  // All at once, so that nothing moves when the last part comes.
  const isReady = shown && (count.answer || count.error) && (changes.answer || changes.error);
  const noSuchVersion = other.error?.status === 404;
  const missing = preset.error?.status === 404 ? preset.error : undefined;
  const title = (isReady && data?.name) || slug;
  const pageTitle = isServed || wanted === undefined ? title : `${title} v${wanted}`;
  return (
    <Page
      title={pageTitle}
      heading={
        <span class="row">
          <span class="heading-name" title={title}>
            {title}
          </span>{" "}
          {isReady && data && <StatusBadge status={data.status} />}
        </span>
      }
      crumbs={[["Presets", presetsHref(workspace)]]}
      actions={
        isReady &&
        data && (
          <PresetActions
            preset={data}
            etag={preset.answer?.etag}
            workspace={workspace}
            changed={reloadAll}
            shown={looked ?? 1}
          />
        )
      }
    >
      {preset.error && (
        <ErrorPanel
          error={preset.error}
          title={missing ? "There is no such preset" : "The preset could not be loaded"}
          retry={missing ? undefined : reloadAll}
        />
      )}
      {missing && reasonNotTo("write") === undefined && (
        <p>
          <a class="button" href={newPresetHref(workspace, { slug })}>
            Create it
          </a>
        </p>
      )}
      {isReady && data && served ? (
        <>
          <div class="preset-intro" key="intro">
            <span class="row">
              <code class="wrap">@preset/{slug}</code>
              <CopyButton text={`@preset/${slug}`} what="the model name" isBare />
            </span>
            {data.description && (
              <p class="muted wrap" title={data.description}>
                {data.description}
              </p>
            )}
          </div>
          <ServingBar
            status={data.status}
            served={served.version}
            newest={newest}
            shown={looked}
            isBusy={isBusy}
            reason={reasonNotTo("write")}
            designate={(version) => designate(version, served.version)}
            hrefOf={(version) => presetHref(workspace, slug, { v: version })}
            compareHref={(from, to) => compareHref(workspace, slug, from, to)}
          />
          <div class="preset-columns">
            <div class={`stack ${loaded || isLost ? "" : "is-stale"}`} aria-busy={!loaded && !isLost}>
              {other.error && !loaded ? (
                <>
                  <ErrorPanel
                    error={other.error}
                    title={noSuchVersion ? `There is no v${wanted}` : `v${wanted} could not be loaded`}
                    retry={noSuchVersion ? undefined : other.reload}
                  />
                  <p>
                    <a class="button" href={presetHref(workspace, slug)}>
                      Show v{served.version}, which is served
                    </a>
                  </p>
                </>
              ) : (
                <>
                  <VersionView content={shown} query={query} workspace={workspace} slug={slug} />
                  <Snippets slug={slug} version={isServed ? undefined : shown.version} />
                </>
              )}
            </div>
            <History
              workspace={workspace}
              slug={slug}
              loaded={changes}
              isOff={data.status !== "active"}
              served={served.version}
              shown={looked}
              showMore={() => setHistoryLength(100)}
            />
          </div>
        </>
      ) : (
        !preset.error && <PresetSkeleton key="skeleton" />
      )}
      {dialog}
    </Page>
  );
}
