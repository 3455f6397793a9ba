import type { Answer } from "../../api/request.ts";
import type { One, ResolvedRequest } from "../../api/types.ts";
import { indented, membersOf, pieceAt } from "../../json/json-pieces.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ConfigValue } from "../preset/config-table.tsx";

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
          {membersOf(body).map(({ key, text }) => (
            <tr key={key}>
              <th scope="row">
                <code class="wrap">{key}</code>
              </th>
              <td>
                <ConfigValue text={text} />
              </td>
              <td>
                <Origin origins={origins} field={key} />
              </td>
            </tr>
          ))}
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
        {provenance.preset.pinned ? ", which was asked for" : ", which is served"}. Nothing was sent to a model.
      </p>
    </section>
  );
}

const looks: Readonly<Record<string, string>> = { preset: "accent", merged: "good" };

/** The origin of a field, and of the parts of it that have one of their own. */
function Origin({ origins, field }: { readonly origins: Origins; readonly field: string }) {
  const pointer = `/${field.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const found = Object.entries(origins).filter(([path]) => path === pointer || path.startsWith(`${pointer}/`));
  return (
    <ul class="stack-tight">
      {found.map(([path, { from, overrides }]) => (
        <li key={path} class="row">
          {path !== pointer && (
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
