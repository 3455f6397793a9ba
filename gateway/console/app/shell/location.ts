import { signal } from "@preact/signals";
import { currentAddress, leaveAt, returnTo } from "./scroll-position.ts";

/** Where the console is: everything that it shows follows from this. */
export interface Place {
  /** Decoded parts of the path behind `/console/`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

export const base = "/console/";

export const place = signal<Place>(currentPlace());

function currentPlace(): Place {
  const parts = location.pathname.slice(base.length).split("/").filter(Boolean).map(decoded);
  return { parts, query: new URLSearchParams(location.search) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export type Query = Readonly<Record<string, string | number | undefined>>;

/** The address of a place in the console. Empty parameters are left out. */
export function hrefTo(parts: readonly string[], query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") parameters.set(name, String(value));
  }
  const search = parameters.size > 0 ? `?${parameters}` : "";
  return `${base}${parts.map(encodeURIComponent).join("/")}${search}`;
}

/** The address of what is shown, which Back has changed before anybody hears of it. */
let address = currentAddress();

function arrive(): void {
  address = currentAddress();
  place.value = currentPlace();
}

export function navigate(href: string, how: "push" | "replace" = "push"): void {
  const isSamePath = new URL(href, location.href).pathname === location.pathname;
  if (how === "push") {
    leaveAt(address);
    history.pushState(null, "", href);
  } else history.replaceState(null, "", href);
  arrive();
  if (!isSamePath) scrollTo(0, 0);
}

/** Links are plain; a click on one that stays in the console loads no page. */
export function followLinks(): void {
  addEventListener("popstate", () => {
    // A link within the page, such as the one to its content: the browser goes there.
    if (currentAddress() === address) return;
    leaveAt(address);
    arrive();
    returnTo(address);
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest("a");
    if (!link?.href || link.hash || link.target || link.origin !== location.origin || !link.pathname.startsWith(base))
      return;
    event.preventDefault();
    navigate(link.href);
    // Another page of a list is read from its beginning; the link to it is at the end.
    if (link.rel === "next" || link.rel === "prev") link.closest("section, main")?.scrollIntoView();
  });
}
