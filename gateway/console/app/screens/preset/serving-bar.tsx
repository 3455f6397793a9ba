import { useRef } from "preact/hooks";
import { reasonForbidden } from "../../api/session.ts";
import type { PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import { useCommands } from "../../shell/commands.ts";
import { navigate } from "../../shell/location.ts";
import { compareHref, presetHref } from "../../shell/preset-hrefs.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { useLostFocus } from "../../ui/use-lost-focus.ts";
import { designationLabel } from "./use-designation.tsx";

interface ServingBarProps {
  readonly workspace: SessionWorkspace;
  readonly preset: PresetWithVersion;
  /** Undefined if it could not be loaded. */
  readonly newest: number | undefined;
  /** The version that was served before, if it is known. */
  readonly before: number | undefined;
  /** The version on the page. */
  readonly shown: number;
  readonly isBusy: boolean;
  readonly designate: (version: number) => void;
}

/** Always shows which version the preset serves, and which one is on the page if that is another. */
export function ServingBar({ workspace, preset, newest, before, shown, isBusy, designate }: ServingBarProps) {
  const { slug, status } = preset;
  const served = preset.designated_version.version;
  const isOff = status !== "active";
  const hasNewer = newest !== undefined && newest > served;
  // From another served version, one may want to move on to the newest; from the newest, back to the one before.
  const next = newest === served ? before : newest;
  const reason = reasonForbidden("write");
  // The version to compare with, or to serve instead.
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
  useLostFocus(text, `${served} ${shown}`);
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
          {/* A separate button for each version, so that pressing Enter twice does not undo the first press. */}
          <ActionButton key={next} class="small" run={() => designate(next)} reason={reason} isBusy={isBusy}>
            {designationLabel(next, served)}
          </ActionButton>
        </div>
      )}
    </div>
  );
}
