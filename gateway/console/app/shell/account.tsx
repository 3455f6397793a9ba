import type { Session } from "../api/types.ts";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import { leave } from "./leave.ts";
import { type Theme, theme } from "./preferences.ts";
import { openShortcuts } from "./shortcuts.tsx";

const themes: readonly (readonly [Theme, string])[] = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
];

/** Who is signed in, and their preferences. */
export function Account({ session }: { readonly session: Session }) {
  const { key, name, email } = session;
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
      <p class="menu-note">Theme</p>
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
