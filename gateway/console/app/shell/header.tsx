import { useEffect, useRef } from "preact/hooks";
import { asApiError } from "../api/api-error.ts";
import { signOut } from "../api/session.ts";
import type { Session, SessionWorkspace } from "../api/types.ts";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import { hrefTo } from "./location.ts";
import { openPalette } from "./palette.tsx";
import { type Theme, theme } from "./preferences.ts";
import { sections } from "./sections.ts";
import { heldKey, openShortcuts } from "./shortcuts.tsx";
import { showToast } from "./toasts.tsx";

interface HeaderProps {
  readonly session: Session;
  readonly workspace: SessionWorkspace;
  readonly section: string | undefined;
}

export function Header({ session, workspace, section }: HeaderProps) {
  const nav = useRef<HTMLElement>(null);
  // Where the links do not fit, the one of this screen is in sight. The page itself stays where it is.
  useEffect(() => {
    const link = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (nav.current && link)
      nav.current.scrollLeft = link.offsetLeft - (nav.current.clientWidth - link.offsetWidth) / 2;
  }, [section]);
  return (
    <header class="header">
      <div class="header-row">
        <a class="brand" href={hrefTo([workspace.slug, "presets"])}>
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

export function BrandMark() {
  return (
    <svg class="brand-mark" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <circle cx="10" cy="10" r="8" fill="none" stroke="currentColor" stroke-width="2" />
      <path d="M10 10L15 5.5" stroke="currentColor" stroke-width="2" stroke-linecap="round" />
      <circle cx="10" cy="10" r="2" fill="currentColor" />
    </svg>
  );
}

function Switcher({ session, workspace, section = "presets" }: HeaderProps) {
  return (
    <Menu
      buttonClass="button small switcher"
      title={`Workspace: ${workspace.name}`}
      label={
        <>
          <span>{workspace.name}</span>
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
          {name}
          {id === workspace.id && <Icon name="done" />}
        </a>
      ))}
    </Menu>
  );
}

const themes: readonly (readonly [Theme, string])[] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

function Account({ session }: { readonly session: Session }) {
  const { key, name, email } = session;
  const leave = (): void => {
    signOut().catch((error: unknown) => showToast(`Not signed out: ${asApiError(error).message}`));
  };
  return (
    <Menu buttonClass="button small" title="Account" label={<Icon name="person" />}>
      <p class="menu-note">
        {(name || email) && (
          <>
            <strong>{name || email}</strong>
            <br />
          </>
        )}
        {key.kind === "management" ? "Management key" : "API key"} <code>{key.label}</code>
      </p>
      <hr />
      <p class="menu-note">Colours</p>
      {themes.map(([value, label]) => (
        <button
          key={value}
          type="button"
          class="menu-item"
          aria-pressed={theme.value === value}
          onClick={() => {
            theme.value = value;
          }}
        >
          {label}
          {theme.value === value && <Icon name="done" />}
        </button>
      ))}
      <hr />
      <button type="button" class="menu-item" onClick={openShortcuts}>
        Keyboard shortcuts
      </button>
      <a class="menu-item" href="/docs" target="_blank" rel="noreferrer">
        API reference
      </a>
      <button type="button" class="menu-item" onClick={leave}>
        Sign out
      </button>
    </Menu>
  );
}
