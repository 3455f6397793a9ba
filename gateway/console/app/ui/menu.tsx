import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { focusHeading } from "./focus-heading.ts";
import { placeBelow } from "./place-below.ts";

interface MenuProps {
  readonly label: ComponentChildren;
  /** The accessible name of the button. */
  readonly title: string;
  readonly buttonClass: string;
  readonly children: ComponentChildren;
}

/** A button that opens a few links and buttons below it. */
export function Menu({ label, title, buttonClass, children }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  // Runs before the menu opens, so that the browser itself focuses the item as it opens: the next keystroke goes there.
  const chooseFocus = (event: { readonly newState: string }): void => {
    if (event.newState !== "open" || !menu.current) return;
    menu.current.querySelector("[autofocus]")?.removeAttribute("autofocus");
    // The current choice is visible, however long the menu is.
    const first = menu.current.querySelector("[aria-current]") ?? menu.current.querySelector("a, button, input");
    first?.setAttribute("autofocus", "");
  };
  const putInPlace = (event: { readonly newState: string }): void => {
    button.current?.setAttribute("aria-expanded", String(event.newState === "open"));
    if (event.newState === "open" && menu.current && button.current) placeBelow(menu.current, button.current, 4);
  };
  const moveFocus = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !menu.current) return;
    event.preventDefault();
    const items = [...menu.current.querySelectorAll<HTMLElement>("a, button, input")];
    const at = items.indexOf(document.activeElement as HTMLElement);
    items[(at + step + items.length) % items.length]?.focus();
  };
  useLayoutEffect(() => {
    const element = menu.current;
    const opener = button.current;
    const hideAfterChoice = (event: Event): void => {
      // An item that cannot be chosen says why, so the menu stays open.
      if ((event.target as Element).closest("a, button:not([aria-disabled])")) element?.hidePopover();
    };
    // Runs before the action: a dialog that opens returns the focus to where it was, which must be the button.
    element?.addEventListener("click", hideAfterChoice, { capture: true });
    element?.addEventListener("keydown", moveFocus);
    return () => {
      element?.removeEventListener("click", hideAfterChoice, { capture: true });
      element?.removeEventListener("keydown", moveFocus);
      // The button is removed together with its subject, such as a key that was deleted here.
      if (opener === document.activeElement) focusHeading();
    };
  }, []);
  return (
    <>
      <button
        type="button"
        class={buttonClass}
        ref={button}
        popovertarget={id}
        aria-expanded="false"
        aria-controls={id}
        aria-label={title}
        title={title}
      >
        {label}
      </button>
      <div id={id} class="menu" popover="auto" ref={menu} onBeforeToggle={chooseFocus} onToggle={putInPlace}>
        {children}
      </div>
    </>
  );
}
