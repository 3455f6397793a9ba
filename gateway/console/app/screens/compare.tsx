import { useMemo, useRef, useState } from "preact/hooks";
import { presetPath, versionContent, versionCountPath } from "../api/presets.ts";
import type { ListPage, One, PresetChange, PresetVersion, PresetWithVersion } from "../api/types.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { ContentDiff, isSameContent } from "../diff/content-diff.tsx";
import { navigate } from "../shell/location.ts";
import { Page } from "../shell/page.tsx";
import { compareHref, presetHref, presetsHref } from "../shell/preset-hrefs.ts";
import { ContentSkeleton } from "../ui/content-skeleton.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { Icon } from "../ui/icon.tsx";
import { ChangeSteps } from "./compare/change-steps.tsx";
import { ComparedVersions } from "./compare/compared-versions.tsx";
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
  const known = {
    newest: count.answer?.json.total_count ?? Math.max(from, to),
    changes: log.answer?.json.data ?? [],
  };

  const [changeCount, setChangeCount] = useState<number>();
  const isReady = before && after && (preset.answer || preset.error);
  // Shown first together with the comparison below it, so that nothing moves. From then on it stays, because other
  // versions are chosen there.
  const isSettled = useRef(false);
  if (isReady || error) isSettled.current = true;

  return (
    <Page
      title={`${slug}: v${from} and v${to}`}
      heading={`Compare v${from} with v${to}`}
      crumbs={[
        ["Presets", presetsHref(workspace)],
        [slug, presetHref(workspace, slug)],
      ]}
      actions={
        <>
          <label class="choice">
            <input
              type="checkbox"
              checked={isWhole}
              onChange={(event) => navigate(hrefOf(from, to, event.currentTarget.checked), "replace")}
            />
            <span>Show what stayed the same</span>
          </label>
          <a class="button" href={hrefOf(to, from)} aria-label="Swap the two versions">
            <Icon name="swap" /> Swap
          </a>
        </>
      }
    >
      {isSettled.current && (
        <ComparedVersions
          workspace={workspace}
          slug={slug}
          preset={preset}
          known={known}
          sides={[
            { label: "From", version: from, content: before, hrefOf: (version) => hrefOf(version, to) },
            { label: "To", version: to, content: after, hrefOf: (version) => hrefOf(from, version) },
          ]}
        >
          {!error && (
            <ChangeSteps
              key={`${from}...${to}`}
              count={changeCount}
              reason={isSame ? "There are no changes: the two versions are the same." : undefined}
            />
          )}
        </ComparedVersions>
      )}
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
        >
          {error.status === 404 && count.answer && (
            <p>It has versions 1 to {count.answer.json.total_count.toLocaleString("en")}. Choose among them above.</p>
          )}
        </ErrorPanel>
      )}
      {isReady ? (
        <ContentDiff key="diff" from={before} to={after} isWhole={isWhole} shown={setChangeCount} />
      ) : (
        !error && <ContentSkeleton key="skeleton" />
      )}
    </Page>
  );
}
