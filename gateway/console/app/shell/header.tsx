import { useEffect, useRef } from "preact/hooks";
import type { Session, SessionWorkspace } from "../api/types.ts";
import { BrandMark } from "../ui/brand-mark.tsx";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import { Account } from "./account.tsx";
import { hrefTo } from "./location.ts";
import { openPalette } from "./palette.tsx";
import { presetsHref } from "./preset-hrefs.ts";
import { sections } from "./sections.ts";
import { heldKey } from "./shortcuts.tsx";

interface HeaderProps {
  readonly session: Session;
  readonly workspace: SessionWorkspace;
  readonly section: string | undefined;
}

export function Header({ session, workspace, section }: HeaderProps) {
  const nav = useRef<HTMLElement>(null);
  // If the links do not fit, the one for this screen is scrolled into view. The page itself does not scroll.
  useEffect(() => {
    const link = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (nav.current && link)
      nav.current.scrollLeft = link.offsetLeft - (nav.current.clientWidth - link.offsetWidth) / 2;
  }, [section]);
  return (
    <header class="header">
      <div class="header-row">
        <a class="brand" href={presetsHref(workspace)}>
          <BrandMark />
          <span>Setpoint</span>
        </a>
        <Switcher session={session} workspace={workspace} section={section} />
        <nav class="nav" aria-label="Main" ref={nav}>
          {sections.map(([path, label]) => (
            <a key={path} href={hrefTo([workspace.slug, path])} aria-current={section === path ? "page" : undefined}>
              {label}
            </a>
          ))}
        </nav>
        <div class="header-end">
          <button type="button" class="button small" onClick={openPalette} title={`Search and commands (${heldKey} K)`}>
            <Icon name="search" />
            <span class="visually-hidden">Search and commands</span>
            <kbd class="only-wide">{heldKey} K</kbd>
          </button>
          <Account session={session} />
        </div>
      </div>
    </header>
  );
}

function Switcher({ session, workspace, section = "presets" }: HeaderProps) {
  return (
    <Menu
      buttonClass="button small switcher"
      title={`Workspace: ${workspace.name}`}
      label={
        <>
          <bdi>{workspace.name}</bdi>
          <Icon name="down" />
        </>
      }
    >
      <p class="menu-note">Workspaces of {session.organization.name}</p>
      {session.workspaces.map(({ id, slug, name }) => (
        <a
          key={id}
          class="menu-item"
          href={hrefTo([slug, section])}
          aria-current={id === workspace.id ? "true" : undefined}
        >
          <bdi>{name}</bdi>
          {id === workspace.id && <Icon name="done" />}
        </a>
      ))}
    </Menu>
  );
}
