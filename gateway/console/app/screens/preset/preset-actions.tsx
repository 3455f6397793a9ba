import { useState } from "preact/hooks";
import { reasonNotTo } from "../../api/session.ts";
import type { PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import { navigate } from "../../shell/location.ts";
import { editHref, newPresetHref, tryHref } from "../../shell/preset-hrefs.ts";
import { showToast } from "../../shell/toasts.tsx";
import { useShortcut } from "../../shell/use-shortcut.ts";
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
  const trialHref = tryHref(workspace, preset.slug, { v: isServed ? undefined : shown });
  const edit = (): void => navigate(editHref(workspace, preset.slug, { from: shown }));
  const editReason =
    reasonNotTo("write") ??
    (preset.status === "archived"
      ? "An archived preset takes no new version. Make it active first, in its settings."
      : undefined);
  useShortcut("t", () => navigate(trialHref));
  useShortcut("e", () => (editReason ? showToast(editReason) : edit()));
  return (
    <>
      <a class="button" href={trialHref} title="Try it (t)">
        Try {isServed ? "it" : `v${shown}`}
      </a>
      <ActionButton run={() => setOpen(true)} reason={reasonNotTo("write")}>
        Settings
      </ActionButton>
      <ActionButton
        run={() => navigate(newPresetHref(workspace, { like: preset.slug, v: shown }))}
        reason={reasonNotTo("write")}
      >
        Duplicate
      </ActionButton>
      <ActionButton class="primary" run={edit} reason={editReason} title="Edit it (e)">
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
