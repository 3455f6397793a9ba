import type { ComponentChildren } from "preact";

interface MenuActionProps {
  readonly children: ComponentChildren;
  readonly run: () => void;
  /** Why it is not possible; undefined if it is. */
  readonly reason?: string | undefined;
  readonly isDangerous?: boolean;
}

/** An action in a menu. One that is not possible stays there, with the reason. */
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
