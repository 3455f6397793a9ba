import { useRef, useState } from "preact/hooks";
import { announce } from "../../shell/announcer.tsx";
import { useShortcut } from "../../shell/use-shortcut.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { Icon } from "../../ui/icon.tsx";

interface ChangeStepsProps {
  /** How many changes there are; undefined until they are shown. */
  readonly count: number | undefined;
  /** Why there is no change to step to. */
  readonly reason: string | undefined;
}

/** The start of each change on the page: a run of adjacent changed lines. */
function shownChanges(): NodeListOf<HTMLElement> {
  return document.querySelectorAll<HTMLElement>("[data-change]:not([data-change] + [data-change])");
}

/** Buttons that step from change to change. */
export function ChangeSteps({ count, reason }: ChangeStepsProps) {
  const [place, setPlace] = useState<string>();
  const at = useRef(-1);
  const step = (by: 1 | -1): void => {
    if (reason) announce(reason);
    const starts = shownChanges();
    if (starts.length === 0) return;
    at.current = at.current === -1 && by === -1 ? starts.length - 1 : (at.current + by + starts.length) % starts.length;
    const row = starts[at.current];
    row?.setAttribute("tabindex", "-1");
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "center" });
    const isCut = starts.length < (count ?? 0);
    const reached = `${at.current + 1} of ${starts.length}${isCut ? " shown" : ""}`;
    setPlace(reached);
    announce(`Change ${reached}`);
  };
  useShortcut("n", () => step(1));
  useShortcut("p", () => step(-1));
  return (
    <div class="change-steps">
      {!reason && (
        <span class="muted small change-count">
          {place ?? (count !== undefined && `${count.toLocaleString("en")} ${count === 1 ? "change" : "changes"}`)}
        </span>
      )}
      <ActionButton
        class="small"
        run={() => step(-1)}
        reason={reason}
        label="Previous change"
        title="Previous change (p)"
      >
        <Icon name="back" />
      </ActionButton>
      <ActionButton class="small" run={() => step(1)} reason={reason} label="Next change" title="Next change (n)">
        <Icon name="next" />
      </ActionButton>
    </div>
  );
}
