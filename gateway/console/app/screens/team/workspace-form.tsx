import { useState } from "preact/hooks";
import {
  workspaceDescriptionLengthMax,
  workspaceNameLengthMax,
  workspaceSlugLengthMax,
} from "../../../../../services/platform/domain/limits.ts";
import { useIdempotencyKey } from "../../api/idempotency-key.ts";
import { request } from "../../api/request.ts";
import type { One, SessionWorkspace, Workspace } from "../../api/types.ts";
import { navigate } from "../../shell/location.ts";
import { presetsHref } from "../../shell/preset-hrefs.ts";
import { showToast } from "../../shell/toasts.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useOwnChanges } from "../../ui/use-own-changes.ts";
import { rememberWorkspace } from "./known-workspaces.ts";

interface WorkspaceFormProps {
  /** The workspace to change; absent for a new one. */
  readonly shown?: Workspace;
  /** The workspace that the console is in. */
  readonly current: SessionWorkspace;
  readonly close: () => void;
  readonly changed: (workspace: Workspace) => void;
}

export function WorkspaceForm({ shown, current, close, changed }: WorkspaceFormProps) {
  const [name, setName] = useState(shown?.name ?? "");
  const [slug, setSlug] = useState(shown?.slug);
  const [description, setDescription] = useState(shown?.description ?? "");
  const chosenSlug = slug ?? slugFrom(name);
  const changesIn = useOwnChanges(shown);
  const idempotencyKeyOf = useIdempotencyKey();

  const submit = async (): Promise<void> => {
    const body = changesIn({ name: name.trim(), slug: chosenSlug.trim(), description: description.trim() || null });
    if (Object.keys(body).length === 0) return close();
    const { json } = await request<One<Workspace>>(`/api/v1/workspaces${shown ? `/${shown.id}` : ""}`, {
      method: shown ? "PATCH" : "POST",
      body,
      headers: idempotencyKeyOf(body),
    });
    const workspace = json.data;
    close();
    rememberWorkspace(workspace, current);
    const open = { label: "Open it", run: () => navigate(presetsHref(workspace)) };
    if (shown) showToast(`“${workspace.name}” is changed.`, undefined, workspace.id);
    else showToast(`“${workspace.name}” is ready.`, open, workspace.id);
    changed(workspace);
  };
  return (
    <FormDialog
      title={shown ? `Edit “${shown.name}”` : "Create a workspace"}
      action={shown ? "Save" : "Create workspace"}
      close={close}
      submit={submit}
    >
      {(faultOf) => (
        <>
          <TextField
            label="Name"
            fault={faultOf("name")}
            value={name}
            change={setName}
            maxLength={workspaceNameLengthMax}
            isRequired
          />
          <TextField
            label="Slug"
            hint={
              shown
                ? "Links with the old slug will stop working."
                : "Part of the console’s addresses: lower-case letters, digits and single hyphens."
            }
            fault={faultOf("slug")}
            value={chosenSlug}
            change={setSlug}
            maxLength={workspaceSlugLengthMax}
            isRequired
          />
          <TextField
            label="Description"
            hint="Optional."
            fault={faultOf("description")}
            value={description}
            change={setDescription}
            maxLength={workspaceDescriptionLengthMax}
          />
        </>
      )}
    </FormDialog>
  );
}

/** The slug suggested by a name, until somebody types another. */
function slugFrom(name: string): string {
  return name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, workspaceSlugLengthMax)
    .replace(/-$/, "");
}
