import { useEffect } from "preact/hooks";
import type { Session, SessionWorkspace } from "../api/types.ts";
import { NothingHere } from "../screens/nothing-here.tsx";
import { Header } from "./header.tsx";
import { Writing } from "./late-screens.tsx";
import { navigate, place } from "./location.ts";
import { Palette } from "./palette.tsx";
import { presetsHref } from "./preset-hrefs.ts";
import { findScreen } from "./screens.tsx";
import { Shortcuts } from "./shortcuts.tsx";

/** By then, the first page has what it needs. */
const preloadAfterMs = 1_000;

/** The header and the screen that the address names. */
export function Frame({ session }: { readonly session: Session }) {
  const { parts, query } = place.value;
  const [slug, ...rest] = parts;
  const workspace = session.workspaces.find((each) => each.slug === slug);
  const start = startOf(session);
  const isAtStart = slug === undefined || (workspace !== undefined && rest.length === 0);
  useEffect(() => {
    if (isAtStart && start) navigate(presetsHref(workspace ?? start), "replace");
  }, [isAtStart, start, workspace]);
  useEffect(() => {
    const timer = setTimeout(Writing.preload, preloadAfterMs);
    return () => clearTimeout(timer);
  }, []);

  const current = workspace ?? start;
  if (!current) return <NothingHere session={session} />;
  const screen = workspace && findScreen(rest, query, workspace);
  return (
    <>
      <a class="button skip" href="#content">
        Skip to content
      </a>
      <Header session={session} workspace={current} section={rest[0]} />
      {screen ?? (!isAtStart && <NothingHere session={session} workspace={current} />)}
      <Palette session={session} workspace={current} />
      <Shortcuts workspace={current} />
    </>
  );
}

/** The workspace to start in: that of the key, otherwise the first one. */
function startOf({ workspaces, workspace_id }: Session): SessionWorkspace | undefined {
  return workspaces.find(({ id }) => id === workspace_id) ?? workspaces[0];
}
