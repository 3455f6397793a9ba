import { useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import { loadSession } from "../../api/session.ts";
import type { Page, SessionWorkspace, Workspace } from "../../api/types.ts";
import { useAction } from "../../api/use-action.ts";
import { useLoaded } from "../../api/use-loaded.ts";
import { hrefTo, navigate } from "../../shell/location.ts";
import { showToast } from "../../shell/toasts.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Icon } from "../../ui/icon.tsx";
import { SkeletonRows } from "../../ui/skeleton-rows.tsx";
import { Time } from "../../ui/time.tsx";

type Asked = { readonly what: "create" } | { readonly what: "edit" | "delete"; readonly workspace: Workspace };

export function Workspaces({ current }: { readonly current: SessionWorkspace }) {
  const loaded = useLoaded<Page<Workspace>>("/api/v1/workspaces?limit=100");
  const [asked, setAsked] = useState<Asked>();
  const close = (): void => setAsked(undefined);
  // The switcher shows them as well.
  const changed = async (): Promise<void> => {
    loaded.reload();
    await loadSession();
  };
  const list = loaded.answer?.json.data;
  return (
    <section class="panel" aria-labelledby="workspaces-title">
      <div class="panel-head">
        <h2 id="workspaces-title">Workspaces</h2>
        <button type="button" class="button small" onClick={() => setAsked({ what: "create" })}>
          <Icon name="plus" /> Create a workspace
        </button>
      </div>
      {loaded.error && (
        <ErrorPanel error={loaded.error} title="The workspaces could not be loaded" retry={loaded.reload} />
      )}
      <table class="table" aria-busy={loaded.isLoading}>
        <caption class="visually-hidden">Workspaces, the oldest first</caption>
        <thead>
          <tr>
            <th scope="col">Workspace</th>
            <th scope="col" class="column-time only-wide">
              Created
            </th>
            <th scope="col" class="column-two-actions">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {list ? (
            list.map((workspace) => (
              <tr key={workspace.id}>
                <td>
                  <div class="two-lines">
                    <a class="cut strong" href={hrefTo([workspace.slug, "presets"])}>
                      {workspace.name}
                    </a>
                    <span class="muted cut">
                      <code>{workspace.slug}</code> {workspace.description}
                    </span>
                  </div>
                </td>
                <td class="column-time only-wide muted">
                  <Time at={workspace.created_at} />
                </td>
                <td class="column-two-actions">
                  <button
                    type="button"
                    class="button small"
                    aria-label={`Edit ${workspace.name}`}
                    onClick={() => setAsked({ what: "edit", workspace })}
                  >
                    Edit
                  </button>{" "}
                  <button
                    type="button"
                    class="button small"
                    aria-label={`Delete ${workspace.name}`}
                    onClick={() => setAsked({ what: "delete", workspace })}
                  >
                    Delete
                  </button>
                </td>
              </tr>
            ))
          ) : (
            <SkeletonRows rows={2} columns={3} />
          )}
        </tbody>
      </table>
      {asked?.what === "create" && <WorkspaceForm changed={changed} close={close} />}
      {asked?.what === "edit" && (
        <WorkspaceForm workspace={asked.workspace} current={current} changed={changed} close={close} />
      )}
      {asked?.what === "delete" && (
        <DeleteWorkspace workspace={asked.workspace} current={current} changed={changed} close={close} />
      )}
    </section>
  );
}

interface WorkspaceDialogProps {
  readonly workspace?: Workspace;
  readonly current?: SessionWorkspace;
  readonly changed: () => Promise<void>;
  readonly close: () => void;
}

function WorkspaceForm({ workspace, current, changed, close }: WorkspaceDialogProps) {
  const [name, setName] = useState(workspace?.name ?? "");
  const [slug, setSlug] = useState(workspace?.slug ?? "");
  const [description, setDescription] = useState(workspace?.description ?? "");
  const submit = async (): Promise<void> => {
    const body = { name: name.trim(), slug, description: description.trim() || null };
    if (workspace) await request(`/api/v1/workspaces/${workspace.id}`, { method: "PATCH", body });
    else await request("/api/v1/workspaces", { method: "POST", body });
    await changed();
    close();
    showToast(workspace ? "The workspace was saved." : `The workspace ${body.name} was created.`);
    // The slug is part of the address that one is at.
    if (workspace && workspace.id === current?.id && slug !== workspace.slug)
      navigate(hrefTo([slug, "team"]), "replace");
  };
  return (
    <FormDialog
      title={workspace ? `Edit ${workspace.name}` : "Create a workspace"}
      label={workspace ? "Save" : "Create"}
      action={useAction()}
      submit={submit}
      close={close}
    >
      <div class="field">
        <label for="workspace-name">Name</label>
        <input
          id="workspace-name"
          class="input"
          required
          maxLength={100}
          value={name}
          onInput={(event) => {
            // Until somebody writes a slug of their own, it follows the name.
            if (slug === slugFrom(name)) setSlug(slugFrom(event.currentTarget.value));
            setName(event.currentTarget.value);
          }}
        />
      </div>
      <div class="field">
        <label for="workspace-slug">Slug</label>
        <input
          id="workspace-slug"
          class="input mono"
          required
          maxLength={50}
          pattern="[a-z0-9]+(-[a-z0-9]+)*"
          aria-describedby="workspace-slug-hint"
          value={slug}
          onInput={(event) => setSlug(event.currentTarget.value)}
        />
        <p class="hint" id="workspace-slug-hint">
          Small letters and digits, with single hyphens between. It is in the address of the console.
        </p>
      </div>
      <div class="field">
        <label for="workspace-description">Description</label>
        <textarea
          id="workspace-description"
          class="input"
          rows={2}
          maxLength={500}
          value={description}
          onInput={(event) => setDescription(event.currentTarget.value)}
        />
      </div>
    </FormDialog>
  );
}

function slugFrom(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 50);
}

function DeleteWorkspace({
  workspace,
  current,
  changed,
  close,
}: WorkspaceDialogProps & { readonly workspace: Workspace }) {
  const submit = async (): Promise<void> => {
    await request(`/api/v1/workspaces/${workspace.id}`, { method: "DELETE" });
    close();
    showToast(`The workspace ${workspace.name} was deleted.`);
    // One cannot stay where nothing is any more.
    if (workspace.id === current?.id) navigate(hrefTo([]), "replace");
    await changed();
  };
  return (
    <FormDialog
      title={`Delete ${workspace.name}?`}
      label="Delete"
      isDangerous
      action={useAction()}
      submit={submit}
      close={close}
    >
      <p>
        Its presets cannot be reached any more. A workspace with keys that work, and the default one, cannot be deleted.
      </p>
    </FormDialog>
  );
}
