import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { focusHeading } from "../ui/focus-heading.ts";
import { Icon } from "../ui/icon.tsx";
import { place } from "./location.ts";

interface Toast {
  readonly id: number;
  readonly text: string;
  /** The path at which it was shown. */
  readonly path: string;
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
  /** What it is about, such as the id of a key. */
  readonly about?: string | undefined;
}

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/**
 * Shows a message until it is dismissed, or until there is a newer one about the same thing, because the older one may
 * offer what is no longer possible. One without an action disappears together with its screen.
 */
export function showToast(text: string, action?: Toast["action"], about?: string): void {
  lastId++;
  const others = toasts.value.filter((toast) => about === undefined || toast.about !== about);
  // Two are enough to follow the last steps; more would cover the page.
  toasts.value = [...others.slice(-1), { id: lastId, text, path: location.pathname, action, about }];
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function clearToasts(): void {
  toasts.value = [];
}

export function Toasts() {
  const current = place.value;
  useEffect(() => {
    const stays = ({ action, path }: Toast): boolean => action !== undefined || path === location.pathname;
    if (!toasts.value.every(stays)) toasts.value = toasts.value.filter(stays);
  }, [current]);
  /** The element that had the focus before a toast took it. */
  const before = useRef<EventTarget | null>(null);
  const close = (id: number): void => {
    dismiss(id);
    // Whoever has scrolled on meanwhile stays there.
    if (before.current instanceof HTMLElement && before.current.isConnected)
      before.current.focus({ preventScroll: true });
    else focusHeading();
  };
  return (
    <section
      class="toasts"
      aria-label="Notifications"
      onFocusIn={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) before.current = relatedTarget;
      }}
    >
      {/* Only what is new is announced: by default, that would be everything in it. */}
      <div role="status" aria-atomic="false">
        {toasts.value.map(({ id, text, action }) => (
          <div class="toast" key={id}>
            <p>{text}</p>
            {action && (
              <button
                type="button"
                class="toast-action"
                onClick={() => {
                  close(id);
                  action.run();
                }}
              >
                {action.label}
              </button>
            )}
            <button type="button" aria-label="Dismiss" onClick={() => close(id)}>
              <Icon name="close" />
            </button>
          </div>
        ))}
      </div>
    </section>
  );
}
