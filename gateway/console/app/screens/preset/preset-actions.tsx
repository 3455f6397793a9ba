import { useState } from "preact/hooks";
import { reasonNotTo } from "../../api/session.ts";
import type { PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import { hrefTo, navigate, newPresetPart } from "../../shell/location.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { PresetSettings } from "./preset-settings.tsx";

interface PresetActionsProps {
  readonly preset: PresetWithVersion;
  readonly etag: string | undefined;
  readonly workspace: SessionWorkspace;
  readonly changed: () => void;
  /** The version that is looked at. */
  readonly shown: number;
}

/** What can be done to a preset as a whole. */
export function PresetActions({ preset, etag, workspace, changed, shown }: PresetActionsProps) {
  const isServed = shown === preset.designated_version.version;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <a
        class="button"
        href={hrefTo([workspace.slug, "presets", preset.slug, "try"], { v: isServed ? undefined : shown })}
      >
        Try {isServed ? "it" : `v${shown}`}
      </a>
      <ActionButton run={() => setOpen(true)} reason={reasonNotTo("write")}>
        Settings
      </ActionButton>
      <ActionButton
        run={() => navigate(hrefTo([workspace.slug, "presets", newPresetPart], { like: preset.slug, v: shown }))}
        reason={reasonNotTo("write")}
      >
        Duplicate
      </ActionButton>
      <ActionButton
        class="primary"
        run={() => navigate(hrefTo([workspace.slug, "presets", preset.slug, "edit"], { from: shown }))}
        reason={
          reasonNotTo("write") ??
          (preset.status === "archived"
            ? "An archived preset takes no new version. Make it active first, in its settings."
            : undefined)
        }
      >
        Edit v{shown}
      </ActionButton>
      {isOpen && (
        <PresetSettings
          preset={preset}
          etag={etag}
          workspace={workspace}
          close={() => setOpen(false)}
          changed={changed}
        />
      )}
    </>
  );
}
