const storageName = "setpoint-scroll";
/** A list that takes longer has moved out of mind. */
const patienceMs = 10_000;

/** How far down each address was left. */
const tops = new Map<string, number>();
let stopWaiting = (): void => {};

/**
 * Back and a reload lead to where one was. Browsers try that too, but a page whose list is still on its way is too short
 * for it: they stay at its top, or hold on to what is below the list and end there.
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
  const hand = new AbortController();
  const observer = new ResizeObserver(() => {
    if (document.documentElement.scrollHeight - innerHeight < top) return;
    stopWaiting();
    scrollTo(0, top);
  });
  stopWaiting = () => {
    observer.disconnect();
    hand.abort();
  };
  // Whoever has begun to read or to type is not moved.
  for (const event of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(event, stopWaiting, { signal: hand.signal, passive: true });
  setTimeout(stopWaiting, patienceMs);
  // It is called once in any case, after what is there now was laid out.
  observer.observe(document.body);
}
