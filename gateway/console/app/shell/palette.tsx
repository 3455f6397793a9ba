import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { hasText } from "../api/has-text.ts";
import { searchedText } from "../api/searched-text.ts";
import { inWorkspace, reasonForbidden } from "../api/session.ts";
import type { ListPage, Preset, Session, SessionWorkspace } from "../api/types.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { isComposing } from "../ui/is-composing.ts";
import { useModal } from "../ui/use-modal.ts";
import { useSettled } from "../ui/use-settled.ts";
import { type Command, offeredCommands } from "./commands.ts";
import { hrefTo, navigate } from "./location.ts";
import { hasShortcuts } from "./preferences.ts";
import { newPresetHref, presetHref, presetsHref } from "./preset-hrefs.ts";
import { sections } from "./sections.ts";
import { heldKey, openShortcuts } from "./shortcuts.tsx";

const isOpen = signal(false);

export function openPalette(): void {
  isOpen.value = true;
}

interface PaletteProps {
  readonly session: Session;
  readonly workspace: SessionWorkspace;
}

type Group = readonly [title: string, choices: readonly Command[]];

/** Ctrl-K: actions of the current page, a search for presets, the pages of the console, and other workspaces. */
export function Palette(props: PaletteProps) {
  // As soon as the page is shown, because the first keystroke may follow at once.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      // On a Mac, Ctrl K deletes the rest of a line.
      const isHeld = heldKey === "Ctrl" ? event.ctrlKey : event.metaKey && !event.ctrlKey;
      if (event.key.toLowerCase() !== "k" || !isHeld || event.altKey || event.shiftKey) return;
      event.preventDefault();
      isOpen.value = !isOpen.value;
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return isOpen.value ? <PaletteDialog {...props} /> : null;
}

function PaletteDialog({ session, workspace }: PaletteProps) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const dialog = useModal();
  const text = searchedText(typed);
  const q = useSettled(text, 120);
  const query = q === "" ? "" : `&q=${encodeURIComponent(q)}`;
  const { answer, error } = useLoaded<ListPage<Preset>>(inWorkspace(`/api/v1/presets?limit=8${query}`, workspace));

  const close = (): void => {
    isOpen.value = false;
  };
  const all: readonly Group[] = [
    ["On this page", offeredCommands().filter(({ label }) => hasText([label], text))],
    ["Presets", presetChoices(answer?.json.data ?? [], workspace, text)],
    ["Go to", placeChoices(workspace).filter(({ label }) => hasText([label], text))],
    ["Workspaces", workspaceChoices(session, workspace).filter(({ label }) => hasText([label], text))],
  ];
  // Nothing is listed before the first response, so that nothing moves under the pointer.
  const groups = answer || error ? all.filter(([, ofGroup]) => ofGroup.length > 0) : [];
  const choices = groups.flatMap(([, ofGroup]) => ofGroup);
  const chosen = Math.min(at, choices.length - 1);
  const choose = (choice: Command | undefined): void => {
    if (!choice) return;
    close();
    choice.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if ((!step && event.key !== "Enter") || isComposing(event)) return;
    event.preventDefault();
    if (choices.length === 0) return;
    if (step) setAt((chosen + step + choices.length) % choices.length);
    else choose(choices[chosen]);
  };
  useEffect(() => {
    document.getElementById(`choice-${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return (
    <dialog
      class="dialog palette"
      ref={dialog}
      aria-label="Search and commands"
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onMouseDown={(event) => {
        if (event.target === dialog.current) close();
      }}
    >
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant={choices.length > 0 ? `choice-${chosen}` : undefined}
        aria-label="Search presets and commands"
        placeholder="Search presets and commands"
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div class="palette-list" id="choices" role="listbox" aria-label="Results">
        {groups.map(([title, ofGroup]) => (
          // biome-ignore lint/a11y/useSemanticElements: a list box has groups, and no fieldset.
          <div key={title} role="group" aria-label={title}>
            <div class="palette-title" aria-hidden="true">
              {title}
            </div>
            {ofGroup.map((choice) => {
              const index = choices.indexOf(choice);
              return (
                <div
                  key={choice.id}
                  id={`choice-${index}`}
                  class="palette-choice"
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === chosen}
                  onClick={() => choose(choice)}
                  onKeyDown={onKeyDown}
                  onMouseMove={() => setAt(index)}
                >
                  <span class="cut">{choice.label}</span>
                  {choice.note && <span class="muted small cut">{choice.note}</span>}
                  {choice.shortcut && hasShortcuts.value && <kbd>{choice.shortcut}</kbd>}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {choices.length === 0 && (answer || error) && (
        <p class="menu-note" role="status">
          Nothing matches.
        </p>
      )}
    </dialog>
  );
}

function presetChoices(presets: readonly Preset[], workspace: SessionWorkspace, text: string): Command[] {
  // The response may belong to an earlier text, and Enter must never open something that nobody asked for.
  const fitting = presets.filter(({ name, slug, description }) => hasText([name, slug, description ?? ""], text));
  return fitting.map(({ id, name, slug }) => ({
    id,
    label: name,
    // Without a name of its own, a preset has its slug as its name.
    ...(slug === name ? {} : { note: slug }),
    run: () => navigate(presetHref(workspace, slug)),
  }));
}

function placeChoices(workspace: SessionWorkspace): Command[] {
  const places: Command[] = sections.map(([path, label]) => ({
    id: path,
    label,
    ...(path === "presets" ? { shortcut: "g" } : {}),
    run: () => navigate(hrefTo([workspace.slug, path])),
  }));
  if (!reasonForbidden("write")) {
    places.push({
      id: "new-preset",
      label: "New preset",
      shortcut: "c",
      run: () => navigate(newPresetHref(workspace)),
    });
  }
  places.push({ id: "shortcuts", label: "Keyboard shortcuts", shortcut: "?", run: openShortcuts });
  return places;
}

function workspaceChoices(session: Session, current: SessionWorkspace): Command[] {
  return session.workspaces
    .filter(({ id }) => id !== current.id)
    .map(({ id, name, slug }) => ({ id, label: name, run: () => navigate(presetsHref({ slug })) }));
}
