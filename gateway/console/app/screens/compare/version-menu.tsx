import type { PresetChange } from "../../api/types.ts";
import { navigate } from "../../shell/location.ts";
import { ByLine } from "../../ui/by-line.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Menu } from "../../ui/menu.tsx";
import { createdVersion } from "../preset/change-list.tsx";

export interface KnownVersions {
  readonly newest: number;
  /** Tell who made each version, and when; newest first. */
  readonly changes: readonly PresetChange[];
}

interface VersionMenuProps {
  readonly label: string;
  readonly value: number;
  readonly known: KnownVersions;
  readonly hrefOf: (version: number) => string;
}

/** A menu of versions, by creator and time, or by number alone if the log does not reach back that far. */
export function VersionMenu({ label, value, known: { newest, changes }, hrefOf }: VersionMenuProps) {
  const made = changes.filter((change) => createdVersion(change) !== undefined);
  return (
    <span class="row">
      <span class="label">{label}</span>
      <Menu
        buttonClass="button small"
        title={`${label} v${value}: choose another version`}
        label={
          <>
            v{value} <Icon name="down" />
          </>
        }
      >
        {made.map((change) => {
          const version = createdVersion(change) ?? 0;
          return (
            <a
              key={version}
              class="menu-item"
              href={hrefOf(version)}
              aria-current={version === value ? "true" : undefined}
            >
              <span class="menu-version">v{version}</span>
              <ByLine id={change.user_id} at={change.created_at} />
              {version === value && <Icon name="done" />}
            </a>
          );
        })}
        {made.length < newest && (
          <label class="menu-note row">
            Another, 1 to {newest.toLocaleString("en")}
            <input
              class="input version-input"
              type="number"
              min={1}
              max={newest}
              onChange={({ currentTarget: { valueAsNumber: version } }) => {
                if (version >= 1 && version <= newest) navigate(hrefOf(version));
              }}
            />
          </label>
        )}
      </Menu>
    </span>
  );
}
