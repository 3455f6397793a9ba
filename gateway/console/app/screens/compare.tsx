import { useMemo, useRef, useState } from "preact/hooks";
import { presetPath, versionContent, versionCountPath } from "../api/presets.ts";
import type { ListPage, One, PresetVersion, PresetWithVersion } from "../api/types.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { ContentDiff, isSameContent } from "../diff/content-diff.tsx";
import { announce } from "../shell/announcer.tsx";
import { navigate } from "../shell/location.ts";
import { Page } from "../shell/page.tsx";
import { compareHref, presetHref, presetsHref } from "../shell/preset-hrefs.ts";
import { useShortcut } from "../shell/use-shortcut.ts";
import { ActionButton } from "../ui/action-button.tsx";
import { ContentSkeleton } from "../ui/content-skeleton.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { Icon } from "../ui/icon.tsx";
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
  const newest = count.answer?.json.total_count ?? Math.max(from, to);

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
          <VersionInput label="From" value={from} newest={newest} choose={(version) => navigate(hrefOf(version, to))} />
          <a class="button small" href={hrefOf(to, from)} aria-label="Swap the two versions" title="Swap">
            ⇄
          </a>
          <VersionInput label="To" value={to} newest={newest} choose={(version) => navigate(hrefOf(from, version))} />
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

interface VersionInputProps {
  readonly label: string;
  readonly value: number;
  readonly newest: number;
  readonly choose: (version: number) => void;
}

/** A number, for a preset may have thousands of versions. */
function VersionInput({ label, value, newest, choose }: VersionInputProps) {
  return (
    <label class="row">
      <span class="label">{label} v</span>
      <input
        class="input version-input"
        type="number"
        min={1}
        max={newest}
        value={value}
        onChange={(event) => {
          const version = event.currentTarget.valueAsNumber;
          if (version >= 1 && version <= newest) choose(version);
          else event.currentTarget.value = String(value);
        }}
      />
    </label>
  );
}

/** Steps from change to change: runs of changed lines that stand together. */
function ChangeSteps({ reason }: { readonly reason: string | undefined }) {
  const [text, setText] = useState("");
  const at = useRef(-1);
  const step = (by: 1 | -1): void => {
    if (reason) announce(reason);
    const rows = [...document.querySelectorAll<HTMLElement>("[data-change]")];
    const starts = rows.filter(
      (row) => !(row.previousElementSibling instanceof HTMLElement && "change" in row.previousElementSibling.dataset),
    );
    if (starts.length === 0) return;
    at.current = at.current === -1 && by === -1 ? starts.length - 1 : (at.current + by + starts.length) % starts.length;
    const row = starts[at.current];
    row?.setAttribute("tabindex", "-1");
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "center" });
    const place = `${at.current + 1} of ${starts.length}`;
    setText(place);
    announce(`Change ${place}`);
  };
  useShortcut("n", () => step(1));
  useShortcut("p", () => step(-1));
  return (
    <div class="row change-steps">
      <span class="muted small change-count">{reason ? "" : text}</span>
      <ActionButton class="small" run={() => step(-1)} reason={reason} title="Previous change (p)">
        <Icon name="back" /> Previous
      </ActionButton>
      <ActionButton class="small" run={() => step(1)} reason={reason} title="Next change (n)">
        Next <Icon name="next" />
      </ActionButton>
    </div>
  );
}
