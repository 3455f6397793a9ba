import { useEffect, useState } from "preact/hooks";
import { emailLengthMax } from "../../../../../services/platform/domain/limits.ts";
import { type ApiError, asApiError } from "../../api/api-error.ts";
import { hasText } from "../../api/has-text.ts";
import { listAll, listedMax } from "../../api/list-all.ts";
import { areMembersCutShort, listMembers, nameOf } from "../../api/people.ts";
import type { Member, WorkspaceMember } from "../../api/types.ts";
import { showToast } from "../../shell/toasts.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";

interface AddToWorkspaceProps {
  readonly name: string;
  /** The API path that lists its members. */
  readonly path: string;
  readonly close: () => void;
  readonly add: (userIds: readonly string[]) => Promise<void>;
}

/** The most that the API accepts at once. */
const chosenMax = 100;

/** Chooses among the members of the organization. Those who are in the workspace already come last. */
export function AddToWorkspace({ name, path, close, add }: AddToWorkspaceProps) {
  const [members, setMembers] = useState<readonly Member[]>();
  const [inside, setInside] = useState<ReadonlySet<string>>(new Set());
  const [error, setError] = useState<ApiError>();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>([]);
  useEffect(() => {
    Promise.all([listMembers(), listAll<WorkspaceMember>(path)]).then(
      ([all, present]) => {
        const ids = new Set(present.items.map(({ user_id }) => user_id));
        setInside(ids);
        setMembers(all.toSorted((one, other) => Number(ids.has(one.id)) - Number(ids.has(other.id))));
      },
      (thrown: unknown) => setError(asApiError(thrown)),
    );
  }, []);

  const isCutShort = areMembersCutShort();
  const shown = members?.filter((member) => hasText([nameOf(member), member.email], text.trim()));
  const submit = async (): Promise<void> => {
    await add(chosen);
    close();
    showToast(`${chosen.length === 1 ? "1 member was" : `${chosen.length} members were`} added to ${name}.`);
  };
  return (
    <FormDialog
      title={`Add members to ${name}`}
      action={chosen.length === 0 ? "Choose someone" : `Add ${chosen.length}`}
      reason={chosen.length > 0 ? undefined : "Choose someone first."}
      close={close}
      submit={submit}
    >
      {(faultOf) => (
        <>
          <TextField
            label="Find a member"
            hint={isCutShort && `Only the first ${listedMax.toLocaleString("en")} members are offered.`}
            value={text}
            change={setText}
            maxLength={emailLengthMax}
            fault={faultOf("user_ids")}
          />
          {error && <ErrorPanel error={error} title="The members could not be loaded" />}
          <fieldset class="choice-list">
            <legend class="visually-hidden">Members of the organization</legend>
            {shown?.map((member) => (
              <label key={member.id} class="choice">
                <input
                  type="checkbox"
                  checked={inside.has(member.id) || chosen.includes(member.id)}
                  disabled={inside.has(member.id) || (chosen.length >= chosenMax && !chosen.includes(member.id))}
                  onChange={(event) => {
                    const others = chosen.filter((each) => each !== member.id);
                    setChosen(event.currentTarget.checked ? [...others, member.id] : others);
                  }}
                />
                <span class="wrap">
                  {nameOf(member)} {nameOf(member) !== member.email && <span class="muted">{member.email}</span>}{" "}
                  {inside.has(member.id) && <span class="badge">already a member</span>}
                </span>
              </label>
            ))}
            {shown?.length === 0 && (
              <p class="muted" role="status">
                {isCutShort
                  ? `None of the first ${listedMax.toLocaleString("en")} members matches.`
                  : "Nobody matches."}
              </p>
            )}
          </fieldset>
        </>
      )}
    </FormDialog>
  );
}
