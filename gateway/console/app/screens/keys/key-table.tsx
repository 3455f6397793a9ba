import { session } from "../../api/session.ts";
import type { Key, SessionWorkspace } from "../../api/types.ts";
import { type Column, Listing } from "../../ui/listing.tsx";
import { Person } from "../../ui/person.tsx";
import { nowMs, Time } from "../../ui/time.tsx";
import { KeyMenu } from "./key-menu.tsx";
import { expiresSoon, hasExpired, previousSecretUntil, reasonNotRemovable } from "./key-state.ts";

interface KeyTableProps {
  /** Undefined until the first response. */
  readonly keys: readonly Key[] | undefined;
  readonly isStale: boolean;
  /** All existing keys, if they are known: management keys are all in one list, and the last one must stay. */
  readonly all: readonly Key[] | undefined;
  readonly workspace: SessionWorkspace;
  readonly changed: () => void;
}

const columns: readonly Column[] = [
  { title: "Key" },
  { title: "Kind and permissions", class: "column-permissions only-wide" },
  { title: "Created by", class: "column-creator only-wide" },
  { title: "Last used", class: "column-when only-wide" },
  { title: "Expires", class: "column-when only-wide" },
  { title: "Actions", class: "column-menu", isUntitled: true },
];

export function KeyTable({ keys, isStale, all, workspace, changed }: KeyTableProps) {
  return (
    <div class="panel">
      <Listing
        caption={`Keys of ${workspace.name}, the newest first`}
        columns={columns}
        isStale={isStale}
        class="keys-table"
      >
        {keys?.map((key) => (
          <KeyRow key={key.id} apiKey={key} reason={all && reasonNotRemovable(key, all)} changed={changed} />
        ))}
      </Listing>
    </div>
  );
}

interface KeyRowProps {
  readonly apiKey: Key;
  readonly reason: string | undefined;
  readonly changed: () => void;
}

function KeyRow({ apiKey, reason, changed }: KeyRowProps) {
  const { name, label, kind, permissions, creator_user_id, created_at, last_used_at, expires_at, disabled } = apiKey;
  const soon = expiresSoon(apiKey, nowMs()) ? "soon" : undefined;
  const previousUntil = previousSecretUntil(apiKey, nowMs());
  const kindName = kind === "management" ? "Management key" : "API key";
  return (
    <tr>
      <td>
        <div class="two-lines">
          <span class="name-line">
            <span class="row-name cut" title={name}>
              {name}
            </span>
            {apiKey.id === session.value?.key.id && <span class="badge accent">In use here</span>}
            {disabled && <span class="badge warn">Disabled</span>}
            {hasExpired(apiKey) && <span class="badge bad">Expired</span>}
          </span>
          <span class="mono muted cut">{label}</span>
          {previousUntil !== undefined && (
            <span class="muted small">
              Old secret ends <Time at={previousUntil} />
            </span>
          )}
          <span class="only-narrow muted small wrap">
            {kindName} · {permissions.join(", ")} ·{" "}
            {last_used_at === null ? (
              "never used"
            ) : (
              <>
                used <Time at={last_used_at} />
              </>
            )}
            {expires_at !== null && (
              <>
                {" "}
                ·{" "}
                <span class={soon}>
                  {hasExpired(apiKey) ? "expired" : "expires"} <Time at={expires_at} />
                </span>
              </>
            )}
          </span>
          <span class="only-narrow muted small cut">
            <Person id={creator_user_id} />
          </span>
        </div>
      </td>
      <td class="only-wide">
        <div class="two-lines">
          <span>{kindName}</span>
          <span class="muted small cut" title={permissions.join(", ")}>
            {permissions.join(", ")}
          </span>
        </div>
      </td>
      <td class="column-creator only-wide">
        <div class="two-lines">
          <span class="cut">
            <Person id={creator_user_id} />
          </span>
          <span class="muted small">
            <Time at={created_at} />
          </span>
        </div>
      </td>
      <td class="only-wide muted">
        <TimeOrNever at={last_used_at} />
      </td>
      <td class="only-wide muted">
        <span class={soon}>
          <TimeOrNever at={expires_at} />
        </span>
      </td>
      <td class="column-menu">
        <KeyMenu apiKey={apiKey} reason={reason} changed={changed} />
      </td>
    </tr>
  );
}

function TimeOrNever({ at }: { readonly at: string | null }) {
  return at === null ? <>Never</> : <Time at={at} />;
}
