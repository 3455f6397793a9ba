// During a rolling update, a page may request its script or styles from a gateway of another release, which does not
// have them. The page would stay blank, so it is reloaded a few times. The name of this file has no hash, so every
// gateway has it.
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

  /** If reloads cannot be counted, there are none: they might never end. */
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

// The colour scheme that somebody chose is set here, too, because this runs before anything is painted. The page's own
// script does not in every browser, and other colours would flash up.
try {
  document.documentElement.dataset.theme = localStorage.getItem("setpoint-theme") ?? "system";
} catch {}
