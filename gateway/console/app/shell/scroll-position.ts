const storageName = "setpoint-scroll";
/** Whoever waits longer for a list does something else by then. */
const waitMsMax = 10_000;

/** How far down each address was left. */
const tops = new Map<string, number>();
let stopWaiting = (): void => {};

/**
 * Back and a reload lead to where one was. Browsers try that too, but while a list is on its way the page is too short:
 * they stay at its top, or keep in sight what is below the list, and end up there.
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

/** Before another page takes the place of this one. */
export function leaveAt(address: string): void {
  stopWaiting();
  tops.set(address, scrollY);
}

/** Once the page that was left there is in its place again. */
export function returnTo(address: string): void {
  scrollWhenLongEnough(tops.get(address) ?? 0);
}

function scrollWhenLongEnough(top: number): void {
  const listening = new AbortController();
  const observer = new ResizeObserver(() => {
    if (document.documentElement.scrollHeight - innerHeight < top) return;
    stopWaiting();
    scrollTo(0, top);
  });
  stopWaiting = () => {
    observer.disconnect();
    listening.abort();
  };
  // Whoever has begun to read or to type is not moved.
  for (const event of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(event, stopWaiting, { signal: listening.signal, passive: true });
  setTimeout(stopWaiting, waitMsMax);
  // Observing calls it once in any case, after what is there now was laid out.
  observer.observe(document.body);
}
