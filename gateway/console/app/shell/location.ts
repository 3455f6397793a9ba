import { signal } from "@preact/signals";
import { currentAddress, leaveAt, returnTo } from "./scroll-position.ts";

/** The location within the console, which decides everything that is shown. */
interface Place {
  /** Decoded parts of the path after `/console/`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

const base = "/console/";

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

/** The address of a location in the console. Empty parameters are left out. */
export function hrefTo(parts: readonly string[], query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") parameters.set(name, String(value));
  }
  const search = parameters.size > 0 ? `?${parameters}` : "";
  return `${base}${parts.map(encodeURIComponent).join("/")}${search}`;
}

/** The address of what is shown. After Back, the browser has changed its own address before the event arrives. */
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

/** Links are ordinary links, but a click on one that stays in the console does not reload the page. */
export function followLinks(): void {
  addEventListener("popstate", () => {
    // A link within the page, such as the one to its content, is left to the browser.
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
    // The link to another page of a list is at its end, but one reads from the beginning.
    if (link.matches(".pager a")) link.closest("section, main")?.scrollIntoView();
  });
}
