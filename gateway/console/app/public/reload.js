// While gateways of two releases serve, the script or the styles of a page may be asked of one that has others. The page
// would stay blank, so it is loaded again, a few times. No hash is in the name of this file: every gateway has it.
{
  const countKey = "setpoint-reloads";
  const reloadsMax = 5;
  const pauseMs = 1_000;
  let isMissing = false;

  addEventListener(
    "error",
    ({ target }) => {
      isMissing ||= target instanceof Element && target.matches('script, link[rel="stylesheet"]');
    },
    true,
  );

  addEventListener("load", () => {
    if (isMissing && mayReload()) setTimeout(() => location.reload(), pauseMs);
    else forgetReloads();
    if (isMissing) document.body.append("The console could not be loaded. Load the page again in a moment.");
  });

  /** Where they cannot be counted, there are none: they might not end. */
  function mayReload() {
    try {
      const count = Number(sessionStorage.getItem(countKey));
      sessionStorage.setItem(countKey, String(count + 1));
      return count < reloadsMax;
    } catch {
      return false;
    }
  }

  function forgetReloads() {
    try {
      sessionStorage.removeItem(countKey);
    } catch {}
  }
}
