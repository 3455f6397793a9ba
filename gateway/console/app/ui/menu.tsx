import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { focusHeading } from "./focus-heading.ts";
import { placeBelow } from "./place-below.ts";

interface MenuProps {
  readonly label: ComponentChildren;
  /** What the button is called where its label is a drawing. */
  readonly title?: string;
  readonly buttonClass?: string;
  readonly children: ComponentChildren;
}

/** A button that shows a few links and buttons below it. */
export function Menu({ label, title, buttonClass = "button", children }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  // Before it is shown, so that the browser itself moves the focus as it shows it: a key pressed next is for that item.
  const chooseFocus = (event: { readonly newState: string }): void => {
    if (event.newState !== "open" || !menu.current) return;
    menu.current.querySelector("[autofocus]")?.removeAttribute("autofocus");
    // What is chosen already is in sight, however long the menu is.
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
      // What cannot be chosen says why, in the menu.
      if ((event.target as Element).closest("a, button:not([aria-disabled])")) element?.hidePopover();
    };
    // Before the choice is carried out: a dialog that it opens gives the focus back to what had it, the button.
    element?.addEventListener("click", hideAfterChoice, { capture: true });
    element?.addEventListener("keydown", moveFocus);
    return () => {
      element?.removeEventListener("click", hideAfterChoice, { capture: true });
      element?.removeEventListener("keydown", moveFocus);
      // It goes with what it is about, such as a key that was deleted here.
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
        {...(title ? { "aria-label": title, title } : {})}
      >
        {label}
      </button>
      <div id={id} class="menu" popover="auto" ref={menu} onBeforeToggle={chooseFocus} onToggle={putInPlace}>
        {children}
      </div>
    </>
  );
}
