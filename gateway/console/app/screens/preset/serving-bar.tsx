import { useEffect, useRef } from "preact/hooks";
import { reasonNotTo } from "../../api/session.ts";
import type { PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import { useCommands } from "../../shell/commands.ts";
import { navigate } from "../../shell/location.ts";
import { compareHref, presetHref } from "../../shell/preset-hrefs.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { designationLabel } from "./use-designation.tsx";

interface ServingBarProps {
  readonly workspace: SessionWorkspace;
  readonly preset: PresetWithVersion;
  /** Undefined if it could not be loaded. */
  readonly newest: number | undefined;
  /** What was served before, as far as that is known. */
  readonly before: number | undefined;
  /** The version that is looked at. */
  readonly shown: number;
  readonly isBusy: boolean;
  readonly designate: (version: number) => void;
}

/** What the preset serves, always in sight, and what one looks at where that is something else. */
export function ServingBar({ workspace, preset, newest, before, shown, isBusy, designate }: ServingBarProps) {
  const { slug, status } = preset;
  const served = preset.designated_version.version;
  const isOff = status !== "active";
  const hasNewer = newest !== undefined && newest > served;
  // Whoever comes for what is served may want to go on to the newest; from the newest, back to what was served before.
  const next = newest === served ? before : newest;
  const reason = reasonNotTo("write");
  // What it can be compared with, and serve instead.
  const other = shown === served ? next : shown;
  const [older, newer] = [Math.min(served, other ?? served), Math.max(served, other ?? served)];
  useCommands(
    other === undefined
      ? []
      : [
          {
            id: "compare",
            label: `Compare v${older} with v${newer}`,
            run: () => navigate(compareHref(workspace, slug, older, newer)),
          },
          ...(reason || isBusy
            ? []
            : [{ id: "designate", label: designationLabel(other, served), run: () => designate(other) }]),
        ],
  );
  const text = useRef<HTMLParagraphElement>(null);
  // The button that was pressed is gone then, and whoever uses the keyboard must not begin at the top again.
  useEffect(() => {
    if (document.activeElement === document.body) text.current?.focus({ preventScroll: true });
  }, [served, shown]);
  return (
    <div class={`serving-bar ${isOff ? "is-off" : ""}`}>
      <p class="serving-text" ref={text} tabIndex={-1}>
        {isOff ? (
          <>
            <strong>{status === "disabled" ? "Disabled" : "Archived"}: requests that name it are refused.</strong> It
            would serve v{served}
          </>
        ) : (
          <strong>Serves v{served}</strong>
        )}
        {newest === served && <span class="muted">, the newest</span>}
        {hasNewer && (
          <>
            , newest is <a href={presetHref(workspace, slug, { v: newest })}>v{newest}</a>
          </>
        )}
      </p>
      {shown !== served && (
        <div class="row">
          <span class="muted only-wide">You are looking at v{shown}.</span>
          <a class="button small" href={presetHref(workspace, slug)}>
            Back to v{served}
          </a>
          <ActionButton class="small primary" run={() => designate(shown)} reason={reason} isBusy={isBusy}>
            {designationLabel(shown, served)}
          </ActionButton>
        </div>
      )}
      {shown === served && next !== undefined && (
        <div class="row">
          <a class="button small only-wide" href={compareHref(workspace, slug, older, newer)}>
            Compare with v{next}
          </a>
          {/* A button of its own for each version: whoever presses Enter twice does not undo the first. */}
          <ActionButton key={next} class="small" run={() => designate(next)} reason={reason} isBusy={isBusy}>
            {designationLabel(next, served)}
          </ActionButton>
        </div>
      )}
    </div>
  );
}
