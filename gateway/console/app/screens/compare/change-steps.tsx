import { useRef, useState } from "preact/hooks";
import { announce } from "../../shell/announcer.tsx";
import { useShortcut } from "../../shell/use-shortcut.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { Icon } from "../../ui/icon.tsx";

/** Steps from change to change: runs of changed lines that stand together. */
export function ChangeSteps({ reason }: { readonly reason: string | undefined }) {
  const [text, setText] = useState("");
  const at = useRef(-1);
  const step = (by: 1 | -1): void => {
    if (reason) announce(reason);
    const starts = document.querySelectorAll<HTMLElement>("[data-change]:not([data-change] + [data-change])");
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
    <div class="change-steps">
      <span class="muted small change-count">{reason ? "" : text}</span>
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
