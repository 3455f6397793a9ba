import { useState } from "preact/hooks";
import { reasonForbidden } from "../../api/session.ts";
import type { PresetStatus, PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import { type Command, useCommands } from "../../shell/commands.ts";
import { navigate } from "../../shell/location.ts";
import { editHref, newPresetHref, tryHref } from "../../shell/preset-hrefs.ts";
import { showToast } from "../../shell/toasts.tsx";
import { useShortcut } from "../../shell/use-shortcut.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { copyAndConfirm } from "../../ui/copy-text.ts";
import { archivedReason } from "../edit/cannot-save.tsx";
import { PresetSettings } from "./preset-settings.tsx";
import { chosenSnippet } from "./snippets.tsx";

interface PresetActionsProps {
  readonly preset: PresetWithVersion;
  readonly etag: string | undefined;
  readonly workspace: SessionWorkspace;
  readonly changed: () => void;
  /** The version on the page. */
  readonly shown: number;
}

/** The actions on a preset as a whole. */
export function PresetActions({ preset, etag, workspace, changed, shown }: PresetActionsProps) {
  const isServed = shown === preset.designated_version.version;
  /** The status that the settings open with; undefined if they are closed. */
  const [settings, openSettings] = useState<PresetStatus>();
  const trialHref = tryHref(workspace, preset.slug, { v: isServed ? undefined : shown });
  const edit = (): void => navigate(editHref(workspace, preset.slug, { from: shown }));
  const duplicate = (): void => navigate(newPresetHref(workspace, { like: preset.slug, v: shown }));
  const writeReason = reasonForbidden("write");
  const editReason = writeReason ?? (preset.status === "archived" ? archivedReason : undefined);
  const tryLabel = `Try ${isServed ? "it" : `v${shown}`}`;
  const editLabel = `Edit v${shown}`;
  const model = isServed ? `@preset/${preset.slug}` : `@preset/${preset.slug}@${shown}`;
  const [sample, makeSample] = chosenSnippet();
  const writing: readonly Command[] = [
    { id: "rename", label: "Rename or describe …", run: () => openSettings(preset.status) },
    ...nextStatuses[preset.status].map(([status, label]) => ({ id: status, label, run: () => openSettings(status) })),
    { id: "duplicate", label: "Duplicate", run: duplicate },
  ];
  useCommands([
    { id: "try", label: tryLabel, shortcut: "t", run: () => navigate(trialHref) },
    ...(editReason ? [] : [{ id: "edit", label: editLabel, shortcut: "e", run: edit }]),
    { id: "copy-name", label: "Copy the model name", note: model, run: () => copyAndConfirm(model, "the model name") },
    {
      id: "copy-sample",
      label: `Copy the ${sample} sample`,
      run: () => copyAndConfirm(makeSample(model, location.origin), `the ${sample} sample`),
    },
    ...(writeReason ? [] : writing),
  ]);
  useShortcut("t", () => navigate(trialHref));
  useShortcut("e", () => (editReason ? showToast(editReason) : edit()));
  return (
    <>
      <a class="button" href={trialHref} title="Try it (t)">
        {tryLabel}
      </a>
      <ActionButton run={() => openSettings(preset.status)} reason={writeReason}>
        Settings
      </ActionButton>
      <ActionButton run={duplicate} reason={writeReason}>
        Duplicate
      </ActionButton>
      <ActionButton class="primary" run={edit} reason={editReason} title="Edit it (e)">
        {editLabel}
      </ActionButton>
      {settings && (
        <PresetSettings
          preset={preset}
          etag={etag}
          workspace={workspace}
          startStatus={settings}
          close={() => openSettings(undefined)}
          changed={changed}
        />
      )}
    </>
  );
}

/** The status changes that are possible from each status. An ellipsis means that a dialog opens first. */
const nextStatuses: Readonly<Record<PresetStatus, readonly (readonly [PresetStatus, label: string])[]>> = {
  active: [
    ["disabled", "Disable …"],
    ["archived", "Archive …"],
  ],
  disabled: [
    ["active", "Enable …"],
    ["archived", "Archive …"],
  ],
  archived: [["active", "Restore …"]],
};
