import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { NotLoaded } from "../ui/not-loaded.tsx";
import { Page } from "./page.tsx";

/** About the organization: most people come for presets. */
export const Administration = late(() => import("../screens/administration.tsx"));

/**
 * In which something is written: most people come to look. Who comes to write should not wait for a script, or type into
 * nothing meanwhile, so it is loaded once the first page is there.
 */
export const Writing = late(() => import("../screens/writing.tsx"));

interface LateProps<Screens> {
  readonly title: string;
  /** Whether the title is the heading, too, so that it can be shown at once. */
  readonly hasHeading?: boolean;
  readonly children: (screens: Screens) => VNode;
}

/** Screens whose script is loaded when the first of them opens, or before. */
function late<Screens>(fetchScreens: () => Promise<Screens>) {
  let loaded: Screens | undefined;
  const load = async (): Promise<Screens> => {
    loaded ??= await fetchScreens();
    return loaded;
  };
  function Late({ title, hasHeading = false, children }: LateProps<Screens>) {
    const [screens, setScreens] = useState(loaded);
    const [hasFailed, setFailed] = useState(false);
    useEffect(() => {
      if (screens) return;
      load().then(setScreens, () => setFailed(true));
    }, []);
    if (screens) return children(screens);
    if (!hasFailed) {
      return (
        <main class="page" id="content" aria-busy="true" tabIndex={-1}>
          <div class="page-head">{hasHeading && <h1>{title}</h1>}</div>
          <p class="muted late">Loading …</p>
        </main>
      );
    }
    return (
      <Page title={title}>
        <NotLoaded />
      </Page>
    );
  }
  // If it cannot be loaded now, it is tried again when one of them opens.
  return Object.assign(Late, { preload: () => void load().catch(() => {}) });
}
