const storageName = "setpoint-scroll";
/** Whoever waits longer for a list is doing something else by then. */
const waitMsMax = 10_000;

/** The scroll position of each address when it was left, and the address of the link that was followed. */
const places = new Map<string, { readonly top: number; readonly href?: string | undefined }>();
let stopWaiting = (): void => {};

/**
 * Back and a reload return to the old scroll position. Browsers try that too, but while a list is being loaded the page
 * is too short: they stay at the top, or hold on to what is below the list and end up there.
 */
export function keepScrollPosition(): void {
  history.scrollRestoration = "manual";
  addEventListener("pagehide", () => {
    sessionStorage.setItem(storageName, JSON.stringify([currentAddress(), scrollY]));
  });
  const [address, top] = JSON.parse(sessionStorage.getItem(storageName) ?? "[]") as [string?, number?];
  const [arrival] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  if (arrival?.type !== "navigate" && address === currentAddress()) scrollWhenLongEnough(top ?? 0);
}

export function currentAddress(): string {
  return location.pathname + location.search;
}

/** To be called before another page replaces this one. */
export function leaveAt(address: string): void {
  stopWaiting();
  places.set(address, { top: scrollY, href: document.activeElement?.getAttribute("href") ?? undefined });
}

/** To be called once the page at this address is shown again. */
export function returnTo(address: string): void {
  const { top = 0, href } = places.get(address) ?? {};
  scrollWhenLongEnough(top, href);
}

function scrollWhenLongEnough(top: number, href?: string): void {
  const listening = new AbortController();
  const observer = new ResizeObserver(() => {
    if (document.documentElement.scrollHeight - innerHeight < top) return;
    stopWaiting();
    scrollTo(0, top);
    // A list goes on where it was left, and not at its beginning.
    if (href !== undefined && document.activeElement?.matches("main h1"))
      document.querySelector<HTMLElement>(`main a[href="${CSS.escape(href)}"]`)?.focus({ preventScroll: true });
  });
  stopWaiting = () => {
    observer.disconnect();
    listening.abort();
  };
  // Whoever has started to read or to type is not moved.
  for (const event of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(event, stopWaiting, { signal: listening.signal, passive: true });
  setTimeout(stopWaiting, waitMsMax);
  // Observing always triggers one call, after the current content is laid out.
  observer.observe(document.body);
}
