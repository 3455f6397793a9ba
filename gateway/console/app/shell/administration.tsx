import { useEffect, useState } from "preact/hooks";
import type { AdministrationProps } from "../screens/administration.tsx";
import { NotLoaded } from "../ui/not-loaded.tsx";
import { Page } from "./page.tsx";
import { sectionLabel } from "./sections.ts";

type Screens = typeof import("../screens/administration.tsx");

let loaded: Screens | undefined;

/**
 * The screens about the organization. Their script is loaded when the first of them opens, because most people come for
 * presets.
 */
export function Administration(props: AdministrationProps) {
  const [screens, setScreens] = useState(loaded);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    if (screens) return;
    import("../screens/administration.tsx").then(
      (module) => {
        loaded = module;
        setScreens(module);
      },
      () => setFailed(true),
    );
  }, []);
  if (screens) return <screens.AdministrationScreen {...props} />;
  const [section, detail] = props.parts;
  if (!hasFailed) {
    return (
      <main class="page" id="content" aria-busy="true" tabIndex={-1}>
        <div class="page-head">{detail === undefined && <h1>{sectionLabel(section)}</h1>}</div>
        <p class="muted late">Loading …</p>
      </main>
    );
  }
  return (
    <Page title={sectionLabel(section)}>
      <NotLoaded />
    </Page>
  );
}

/** Whether a path below the workspace leads to one of them. */
export function isAdministrationPath([section, detail, ...rest]: readonly string[]): boolean {
  if (rest.length > 0) return false;
  if (section === "team") return true;
  return detail === undefined && (section === "activity" || section === "keys");
}
