import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { slugLengthMax, slugPattern } from "../../../../../services/platform/domain/limits.ts";
import { reasonForbidden, session } from "../../api/session.ts";
import { presetHref, presetsHref } from "../../shell/preset-hrefs.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { ActionFailed } from "../../ui/action-failed.tsx";
import { TextField } from "../../ui/field.tsx";
import { submitByKey } from "../../ui/submit-key.ts";
import { CannotSave } from "../edit/cannot-save.tsx";
import { configFaultOf } from "../edit/config-fault.ts";
import { ContentFields } from "../edit/content-fields.tsx";
import { DialectChoice } from "./dialect-choice.tsx";
import {
  type DraftPlace,
  deleteNewDraft,
  findNewDraft,
  isUntouched,
  movedDraft,
  type NewDraft,
  newDraft,
  storeNewDraft,
} from "./new-draft.ts";
import { useCreate } from "./use-create.ts";
import { WorkspaceChoice } from "./workspace-choice.tsx";

interface NewPresetFormProps {
  readonly place: DraftPlace;
  /** The initial content, unless there is a stored draft. */
  readonly start: NewDraft;
}

/** The form for a new preset: its slug, its dialect, and its first version. */
export function NewPresetForm({ place, start }: NewPresetFormProps) {
  const { workspace } = place;
  const [kept] = useState(() => findNewDraft(place));
  const [draft, setDraft] = useState(kept ?? start);
  const configFault = useMemo(() => configFaultOf(draft.config), [draft.config]);
  const keep = (changed: NewDraft): void => {
    setDraft(changed);
    storeNewDraft(place, changed);
  };
  const target = session.value?.workspaces.find(({ id }) => id === draft.workspaceId) ?? workspace;
  // What is pasted often ends with a space, which nobody sees.
  const slug = draft.slug.trim();
  const creation = useCreate({ place, target, draft: { ...draft, slug }, keep });
  const edit = (change: Partial<NewDraft>): void => {
    keep({ ...draft, ...change });
    creation.forgetError();
  };
  const discard = (): void => {
    deleteNewDraft(place);
    setDraft(start);
    creation.forgetError();
  };

  const form = useRef<HTMLFormElement>(null);
  // Moves the focus to the field that must be changed, which also says why.
  useEffect(() => {
    if (creation.isTaken) form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [creation.isTaken]);
  // The button can be pressed from anywhere in a long prompt, but an error is shown at the top.
  useEffect(() => {
    if (creation.error) scrollTo(0, 0);
  }, [creation.error]);

  const slugFault = creation.isTaken ? (
    <>
      A preset with this slug already exists: <a href={presetHref(target, slug)}>look at {slug}</a>, or choose another.
    </>
  ) : (
    slugFaultOf(slug)
  );
  const reason =
    reasonForbidden("write") ??
    (slug === "" ? "Give it a slug first." : slugFaultOf(slug) && "Correct the slug first.") ??
    configFault;
  return (
    <form
      class="stack"
      ref={form}
      onKeyDown={submitByKey}
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) creation.run();
      }}
    >
      <CannotSave />
      {kept === draft && !isUntouched(draft) && (
        <div class="notice row">
          <p>This is your earlier draft; nothing was lost.</p>
          <button type="button" class="button small" onClick={discard}>
            Discard it and start over
          </button>
        </div>
      )}
      {creation.error && <ActionFailed error={creation.error} done="created" />}
      <div class="panel panel-body new-preset-fields">
        <div class="stack">
          {place.like !== "" && (
            <WorkspaceChoice chosen={target} change={(workspaceId) => edit(movedDraft(draft, place, workspaceId))} />
          )}
          <TextField
            label="Slug"
            hint={
              <>
                Requests refer to it as <code class="wrap">@preset/{slug || "…"}</code>, which cannot be changed later.
                Once it exists, you can give it a name and a description in its settings.
              </>
            }
            fault={slugFault}
            value={draft.slug}
            change={(text) => edit({ slug: text })}
            maxLength={slugLengthMax}
            isRequired
          />
        </div>
        <DialectChoice
          chosen={draft.dialect}
          change={(dialect) => edit(isUntouched(draft) ? newDraft(draft.slug, dialect) : { dialect })}
        />
      </div>
      <ContentFields
        dialect={draft.dialect}
        prompt={draft.prompt}
        config={draft.config}
        configFault={configFault}
        issues={creation.contentIssues}
        hint="If you have one, paste it here, as JSON or as a curl command."
        change={edit}
      />
      <div class="row edit-actions is-in-reach">
        <a class="button" href={presetsHref(workspace)}>
          Cancel
        </a>
        <ActionButton isSubmit class="primary" reason={reason} isBusy={creation.isBusy}>
          {creation.isBusy ? "Creating …" : "Create preset"}
        </ActionButton>
      </div>
    </form>
  );
}

/** Why a text is not a valid slug, in the API's words; undefined if it is valid or empty. */
function slugFaultOf(slug: string): string | undefined {
  if (slug === "" || slugPattern.test(slug)) return undefined;
  return "It begins with a letter or digit; letters, digits and . _ ~ - may follow.";
}
