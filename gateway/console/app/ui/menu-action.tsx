import type { ComponentChildren } from "preact";

interface MenuActionProps {
  readonly children: ComponentChildren;
  readonly run: () => void;
  /** Why it cannot be done; undefined if it can. */
  readonly reason?: string | undefined;
  readonly isDangerous?: boolean;
}

/** Something to do in a menu. What cannot be done stays there, with the reason. */
export function MenuAction({ children, run, reason, isDangerous = false }: MenuActionProps) {
  return (
    <button
      type="button"
      class={`menu-item ${isDangerous ? "is-dangerous" : ""}`}
      aria-disabled={reason === undefined ? undefined : "true"}
      onClick={() => reason === undefined && run()}
    >
      <span class="stack-tight">
        <span>{children}</span>
        {reason && <span class="small">{reason}</span>}
      </span>
    </button>
  );
}
