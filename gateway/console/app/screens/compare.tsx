import { useMemo } from "preact/hooks";
import { presetPath, versionContent, versionCountPath } from "../api/presets.ts";
import type { ListPage, One, PresetChange, PresetVersion, PresetWithVersion } from "../api/types.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { ContentDiff, isSameContent } from "../diff/content-diff.tsx";
import { navigate } from "../shell/location.ts";
import { Page } from "../shell/page.tsx";
import { compareHref, presetHref, presetsHref } from "../shell/preset-hrefs.ts";
import { ContentSkeleton } from "../ui/content-skeleton.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { ChangeSteps } from "./compare/change-steps.tsx";
import { ComparedVersions } from "./compare/compared-versions.tsx";
import { VersionMenu } from "./compare/version-menu.tsx";
import type { PresetScreenProps } from "./screen-props.ts";

interface CompareProps extends PresetScreenProps {
  readonly from: number;
  readonly to: number;
}

export function Compare({ workspace, query, slug, from, to }: CompareProps) {
  const isWhole = query.get("all") === "1";
  const left = useLoaded<One<PresetVersion>>(presetPath(workspace, slug, `/versions/${from}`));
  const right = useLoaded<One<PresetVersion>>(presetPath(workspace, slug, `/versions/${to}`));
  const preset = useLoaded<One<PresetWithVersion>>(presetPath(workspace, slug));
  const count = useLoaded<ListPage<PresetVersion>>(versionCountPath(workspace, slug));
  const error = left.error ?? right.error;
  const before = useMemo(() => left.answer && versionContent(left.answer), [left.answer]);
  const after = useMemo(() => right.answer && versionContent(right.answer), [right.answer]);
  const isSame = useMemo(() => before && after && isSameContent(before, after), [before, after]);
  const hrefOf = (one: number, other: number, all = isWhole): string =>
    compareHref(workspace, slug, one, other, { all: all ? 1 : undefined });
  const log = useLoaded<ListPage<PresetChange>>(presetPath(workspace, slug, "/changes?limit=100"));
  const versions = {
    newest: count.answer?.json.total_count ?? Math.max(from, to),
    changes: log.answer?.json.data ?? [],
  };

  return (
    <Page
      title={`${slug}: v${from} and v${to}`}
      heading={`Compare v${from} with v${to}`}
      crumbs={[
        ["Presets", presetsHref(workspace)],
        [slug, presetHref(workspace, slug)],
      ]}
    >
      <div class="compare-bar">
        <div class="row">
          <VersionMenu label="From" value={from} {...versions} hrefOf={(version) => hrefOf(version, to)} />
          <a class="button small" href={hrefOf(to, from)} aria-label="Swap the two versions" title="Swap">
            ⇄
          </a>
          <VersionMenu label="To" value={to} {...versions} hrefOf={(version) => hrefOf(from, version)} />
        </div>
        <label class="choice">
          <input
            type="checkbox"
            checked={isWhole}
            onChange={(event) => navigate(hrefOf(from, to, event.currentTarget.checked), "replace")}
          />
          <span>Show what stayed the same</span>
        </label>
        <ChangeSteps
          key={`${from}...${to}`}
          reason={isSame ? "There is no change to go to: the two say the same." : undefined}
        />
      </div>
      {error && (
        <ErrorPanel
          error={error}
          title={error.status === 404 ? "There is no such version" : "The versions could not be loaded"}
          retry={
            error.status === 404
              ? undefined
              : () => {
                  left.reload();
                  right.reload();
                }
          }
        />
      )}
      {before && after && (preset.answer || preset.error) ? (
        <>
          <ComparedVersions
            key="versions"
            workspace={workspace}
            slug={slug}
            preset={preset}
            versions={[before, after]}
          />
          <ContentDiff key="diff" from={before} to={after} isWhole={isWhole} />
        </>
      ) : (
        !error && <ContentSkeleton key="skeleton" />
      )}
    </Page>
  );
}
