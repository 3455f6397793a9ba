import { useMemo, useState } from "preact/hooks";
import { DiffView } from "../../diff/diff-view.tsx";
import { useDiff } from "../../diff/use-diff.ts";
import { indented } from "../../json/json-pieces.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { NotLoaded } from "../../ui/not-loaded.tsx";
import { Person } from "../../ui/person.tsx";
import { Time } from "../../ui/time.tsx";
import type { Draft } from "./draft.ts";
import { merge, promptKey } from "./merge.ts";
import type { ConcurrentChange } from "./use-save.ts";

interface MergePanelProps {
  readonly draft: Draft;
  readonly concurrentChange: ConcurrentChange;
  readonly apply: (draft: Draft) => void;
  readonly editorHref: string;
}

/**
 * Somebody else saved first: shows both sides where they conflict, and lets one choose for each field that both
 * changed.
 */
export function MergePanel({ draft, concurrentChange, apply, editorHref }: MergePanelProps) {
  const { theirs, lastChange, etag, mergeLines } = concurrentChange;
  const [choices, setChoices] = useState<ReadonlyMap<string, "mine" | "theirs">>(new Map());
  const { taken, mergedPrompt, conflicts, settle } = useMemo(
    () => merge(draft.ancestor, { config: draft.config, prompt: draft.prompt }, theirs, mergeLines),
    [draft, theirs],
  );
  const isSettled = conflicts.every(({ key }) => choices.has(key));
  const pairs = useMemo(
    () =>
      conflicts.map(({ key, mine, theirs: other }) => ({ from: shownValue(key, mine), to: shownValue(key, other) })),
    [conflicts],
  );
  const diffs = useDiff(pairs);
  return (
    <div class="stack">
      <div class="notice" role="alert">
        <h2>Someone else changed this preset</h2>
        <p>
          {lastChange && (
            <>
              <strong>
                <Person id={lastChange.user_id} />
              </strong>
              , <Time at={lastChange.created_at} />.{" "}
            </>
          )}
          It serves <strong>v{theirs.version}</strong> now. Your changes have not been saved, and none of them are lost.
        </p>
      </div>
      {taken.length > 0 && (
        <div class="panel panel-body">
          <p>
            Taken from v{theirs.version}, because you did not change it:{" "}
            {taken.map((key, index) => (
              <>
                {index > 0 && ", "}
                <code key={key}>{key}</code>
              </>
            ))}
          </p>
        </div>
      )}
      {mergedPrompt !== undefined && (
        <p class="panel panel-body">
          Both of you changed the system prompt, in different lines: both changes are kept.
        </p>
      )}
      {taken.length === 0 && conflicts.length === 0 && mergedPrompt === undefined && (
        <p class="panel panel-body">Their change does not affect your prompt or config.</p>
      )}
      {diffs === "not loaded" && <NotLoaded />}
      {conflicts.map(({ key, mine, theirs: other }, index) => {
        const diff = Array.isArray(diffs) ? diffs[index] : undefined;
        const sides = [
          ["mine", "Mine", mine === undefined ? "removed" : "lines with −"],
          ["theirs", `Theirs (v${theirs.version})`, other === undefined ? "removed" : "lines with +"],
        ] as const;
        return (
          <fieldset key={key} class="panel">
            <legend class="visually-hidden">{key}: mine or theirs</legend>
            <div class="panel-head">
              <h2 class="wrap">{key === promptKey ? key : <code>{key}</code>}</h2>
              <span class="badge warn">both changed it</span>
            </div>
            <div class="merge-sides">
              {sides.map(([side, label, note]) => (
                <label key={side} class="merge-side choice" data-chosen={choices.get(key) === side ? "" : undefined}>
                  <input
                    type="radio"
                    name={`merge-${key}`}
                    aria-label={label}
                    checked={choices.get(key) === side}
                    onChange={() => setChoices(new Map(choices).set(key, side))}
                  />
                  <span>
                    <strong>{label}</strong> <span class="muted small">{note}</span>
                  </span>
                </label>
              ))}
            </div>
            {diff && <DiffView diff={diff} label={`${key}: mine and theirs`} isWhole={false} />}
          </fieldset>
        );
      })}
      <div class="row edit-actions">
        <a class="button" href={editorHref}>
          Back to editing
        </a>
        <ActionButton
          class="primary"
          reason={isSettled ? undefined : "Choose one side for each field first."}
          run={() => apply({ ...draft, ...settle(choices), ancestor: theirs, etag })}
        >
          Merge and review
        </ActionButton>
      </div>
    </div>
  );
}

function shownValue(key: string, text: string | undefined): string | undefined {
  return text === undefined || key === promptKey ? text : indented(text);
}
