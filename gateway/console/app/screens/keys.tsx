import { useState } from "preact/hooks";
import { inWorkspace, reasonNotTo } from "../api/session.ts";
import type { Key, Page as ListPage } from "../api/types.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { hrefTo } from "../shell/location.ts";
import { Page } from "../shell/page.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { Icon } from "../ui/icon.tsx";
import { ManagementOnly } from "../ui/management-only.tsx";
import { Pager } from "../ui/pager.tsx";
import { SkeletonRows } from "../ui/skeleton-rows.tsx";
import { CreateKey } from "./keys/create-key.tsx";
import { KeyRow } from "./keys/key-row.tsx";
import { SecretDialog } from "./keys/secret-dialog.tsx";
import type { ScreenProps } from "./presets.tsx";

/** A key that was just made. */
export interface Secret {
  readonly name: string;
  readonly secret: string;
}

const pageSize = 50;

export function Keys({ workspace, query }: ScreenProps) {
  const reason = reasonNotTo("administer");
  const page = Math.max(1, Number.parseInt(query.get("page") ?? "1", 10) || 1);
  const path = `/api/v1/keys?include_disabled=true&limit=${pageSize}&offset=${(page - 1) * pageSize}`;
  const { answer, error, reload, isLoading } = useLoaded<ListPage<Key>>(
    reason === undefined ? inWorkspace(path, workspace) : undefined,
  );
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<Secret>();
  if (reason !== undefined) return <ManagementOnly title="Keys" reason={reason} />;
  const keys = answer?.json.data;
  const total = answer?.json.total_count ?? 0;
  return (
    <Page
      title="Keys"
      actions={
        <button type="button" class="button primary" onClick={() => setCreating(true)}>
          <Icon name="plus" /> Create a key
        </button>
      }
    >
      {error && <ErrorPanel error={error} title="The keys could not be loaded" retry={reload} />}
      {keys?.length === 0 ? (
        <div class="panel empty">
          <h2>No keys in {workspace.name}</h2>
          <p>
            A program that uses the presets of this workspace needs an API key. Create one and give it to the program.
          </p>
        </div>
      ) : (
        (keys || !error) && (
          <div class={`panel ${keys && isLoading ? "is-stale" : ""}`} aria-busy={isLoading}>
            <table class="table keys-table">
              <caption class="visually-hidden">Keys of {workspace.name}, the newest first</caption>
              <thead>
                <tr>
                  <th scope="col">Key</th>
                  <th scope="col" class="only-wide">
                    May
                  </th>
                  <th scope="col" class="column-person only-wide">
                    Created by
                  </th>
                  <th scope="col" class="column-time only-wide">
                    Last used
                  </th>
                  <th scope="col" class="column-time only-wide">
                    Expires
                  </th>
                  <th scope="col" class="column-actions">
                    <span class="visually-hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {keys ? (
                  keys.map((key) => <KeyRow key={key.id} item={key} changed={reload} showSecret={setSecret} />)
                ) : (
                  <SkeletonRows rows={4} columns={6} />
                )}
              </tbody>
            </table>
          </div>
        )
      )}
      {total > pageSize && (
        <Pager
          page={page}
          pageSize={pageSize}
          total={total}
          hrefOf={(to) => hrefTo([workspace.slug, "keys"], { page: to > 1 ? to : undefined })}
        />
      )}
      {isCreating && (
        <CreateKey
          workspace={workspace}
          close={() => setCreating(false)}
          created={(made) => {
            setCreating(false);
            setSecret(made);
            reload();
          }}
        />
      )}
      {secret && <SecretDialog {...secret} close={() => setSecret(undefined)} />}
    </Page>
  );
}
