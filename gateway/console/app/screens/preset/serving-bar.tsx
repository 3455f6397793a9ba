import { useEffect, useRef } from "preact/hooks";
import type { PresetStatus } from "../../api/types.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { designationLabel } from "./use-designation.tsx";

interface ServingBarProps {
  readonly status: PresetStatus;
  readonly served: number | undefined;
  readonly newest: number | undefined;
  /** The version that is looked at. */
  readonly shown: number | undefined;
  readonly isBusy: boolean;
  readonly reason: string | undefined;
  readonly designate: (version: number) => void;
  readonly hrefOf: (version: number | undefined) => string;
  readonly compareHref: (from: number, to: number) => string;
}

/** What the preset serves, always in sight, and what one looks at where that is something else. */
export function ServingBar(props: ServingBarProps) {
  const { status, served, newest, shown, isBusy, reason, designate, hrefOf, compareHref } = props;
  const isKnown = served !== undefined && newest !== undefined;
  const isOff = status !== "active";
  const text = useRef<HTMLParagraphElement>(null);
  // The button that was pressed is gone then, and whoever uses the keyboard must not begin at the top again.
  useEffect(() => {
    if (document.activeElement === document.body) text.current?.focus({ preventScroll: true });
  }, [served, shown]);
  return (
    <div class={`serving-bar ${isOff ? "is-off" : ""}`}>
      <p class="serving-text" ref={text} tabIndex={-1}>
        {isKnown ? (
          <>
            {isOff ? (
              <>
                <strong>{status === "disabled" ? "Disabled" : "Archived"}: requests that name it are refused.</strong>{" "}
                It would serve v{served}
              </>
            ) : (
              <strong>Serves v{served}</strong>
            )}
            {newest === served ? (
              <span class="muted">, the newest</span>
            ) : (
              <>
                , newest is <a href={hrefOf(newest)}>v{newest}</a>
              </>
            )}
          </>
        ) : (
          <span class="skeleton w-text" />
        )}
      </p>
      {isKnown && shown !== undefined && shown !== served && (
        <div class="row">
          <span class="muted only-wide">You are looking at v{shown}.</span>
          <a class="button small" href={hrefOf(undefined)}>
            Back to v{served}
          </a>
          <ActionButton class="small primary" run={() => designate(shown)} reason={reason} isBusy={isBusy}>
            {designationLabel(shown, served)}
          </ActionButton>
        </div>
      )}
      {isKnown && shown === served && newest !== served && (
        <div class="row">
          <a class="button small only-wide" href={compareHref(served, newest)}>
            Compare with v{newest}
          </a>
          <ActionButton class="small" run={() => designate(newest)} reason={reason} isBusy={isBusy}>
            Serve v{newest}
          </ActionButton>
        </div>
      )}
    </div>
  );
}
