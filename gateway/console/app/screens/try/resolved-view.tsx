import type { Answer } from "../../api/request.ts";
import type { One, ResolvedRequest } from "../../api/types.ts";
import { indented, membersOf, pieceAt } from "../../json/json-pieces.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ConfigValue, StringValue } from "../preset/config-table.tsx";

type Origins = Readonly<Record<string, { readonly from: string; readonly overrides?: string }>>;

/** The request as it would be sent, and where each part of it comes from. */
export function ResolvedView({ answer }: { readonly answer: Answer<One<ResolvedRequest>> }) {
  const { provenance } = answer.json.data;
  const body = pieceAt(answer.text, ["data", "body"]);
  const origins = provenance.fields as Origins;
  return (
    <section class="panel" aria-labelledby="resolved-title">
      <div class="panel-head">
        <h2 id="resolved-title">The merged request</h2>
        <CopyButton text={() => indented(body)} what="the merged request" />
      </div>
      <table class="table config-table">
        <caption class="visually-hidden">Fields of the merged request</caption>
        <colgroup>
          <col class="config-key" />
          <col />
          <col class="column-origin" />
        </colgroup>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Value</th>
            <th scope="col">From</th>
          </tr>
        </thead>
        <tbody>
          {membersOf(body).map(({ key, text }) => {
            const pointer = `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
            return (
              messagesIn(text)?.map(({ role, content }, index) => (
                <tr key={`${key} ${index}`}>
                  <th scope="row">
                    <code class="wrap">{`${key}[${index}]`}</code> <span class="muted small">{role}</span>
                  </th>
                  <td>
                    <StringValue text={content} />
                  </td>
                  <td>
                    <Origin origins={origins} pointer={`${pointer}/${index}`} within={pointer} />
                  </td>
                </tr>
              )) ?? (
                <tr key={key}>
                  <th scope="row">
                    <code class="wrap">{key}</code>
                  </th>
                  <td>
                    <ConfigValue text={text} />
                  </td>
                  <td>
                    <Origin origins={origins} pointer={pointer} />
                  </td>
                </tr>
              )
            );
          })}
        </tbody>
      </table>
      {provenance.dropped.length > 0 && (
        <div class="panel-foot">
          <h3>Left out</h3>
          <ul class="small">
            {provenance.dropped.map(({ field, from, reason }) => (
              <li key={field}>
                <code>{field}</code> of the {from}: {reason}
              </li>
            ))}
          </ul>
        </div>
      )}
      <p class="panel-foot muted small">
        Merged with v{provenance.preset.version}
        {provenance.preset.pinned ? ", which was asked for" : ", which is served"}. Merging sends nothing to a model.
      </p>
    </section>
  );
}

const looks: Readonly<Record<string, string>> = { preset: "accent", merged: "good" };

interface OriginProps {
  readonly origins: Origins;
  readonly pointer: string;
  /** The pointer of the enclosing field, whose origin applies to parts without one of their own. */
  readonly within?: string;
}

/** The origin of a field, and of those of its parts that have their own. */
function Origin({ origins, pointer, within = pointer }: OriginProps) {
  const own = Object.entries(origins).filter(([path]) => path === pointer || path.startsWith(`${pointer}/`));
  const inherited = Object.entries(origins).filter(([path]) => path === within);
  return (
    <ul class="stack-tight">
      {(own.length > 0 ? own : inherited).map(([path, { from, overrides }]) => (
        <li key={path} class="row">
          {path.length > pointer.length && (
            <code class="small">
              {path
                .slice(pointer.length)
                .replaceAll(/\/(\d+)/g, "[$1]")
                .replaceAll("/", ".")}
            </code>
          )}
          <span class={`badge ${looks[from] ?? ""}`}>{from}</span>
          {overrides && <span class="muted small">over the {overrides}</span>}
        </li>
      ))}
    </ul>
  );
}

interface Message {
  readonly role: string;
  readonly content: string;
}

/** The messages of a conversation, for a readable layout. Undefined for anything beyond roles and plain text. */
function messagesIn(text: string): readonly Message[] | undefined {
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) && value.length > 0 && value.every(isPlainMessage) ? value : undefined;
}

function isPlainMessage(value: Partial<Message> | null): boolean {
  return typeof value?.role === "string" && typeof value.content === "string" && Object.keys(value).length === 2;
}
