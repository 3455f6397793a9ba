import { indented, membersOf, type Piece } from "../../json/json-pieces.ts";

/** The fields of a config, each with its value as it is written. */
export function ConfigTable({ config }: { readonly config: string }) {
  const members = membersOf(config);
  if (members.length === 0) return <p class="panel-body muted">This version has no settings.</p>;
  return (
    <table class="table config-table">
      <caption class="visually-hidden">Fields of the config</caption>
      <colgroup>
        <col class="config-key" />
        <col />
      </colgroup>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      <tbody>
        {members.map((member) => (
          <tr key={member.key}>
            <th scope="row">
              <code class="wrap">{member.key}</code>
            </th>
            <td>
              <ConfigValue text={member.text} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const shortLength = 64;
const linesAtFirst = 12;
/** A longer text may wrap into more lines than are visible at once. */
const lengthAtFirst = 600;

export function ConfigValue({ text }: Pick<Piece, "text">) {
  if (text.startsWith('"')) return <StringValue text={JSON.parse(text)} />;
  if (text.length <= shortLength || !/^[[{]/.test(text)) return <code class="wrap">{text}</code>;
  const shown = indented(text);
  const lines = shown.split("\n").length;
  if (lines <= linesAtFirst) return <JsonText text={shown} />;
  const items = JSON.parse(text) as object;
  const count = Object.keys(items).length;
  return (
    <details>
      <summary>
        {count.toLocaleString("en")} {Array.isArray(items) ? "item" : "field"}
        {count === 1 ? "" : "s"}, {lines.toLocaleString("en")} lines
      </summary>
      <JsonText text={shown} />
    </details>
  );
}

function JsonText({ text }: Pick<Piece, "text">) {
  // A prompt inside it is readable only with line breaks.
  return <TextValue text={text.replaceAll(/\\./g, (pair) => (pair === "\\n" ? "\\n\n" : pair))} />;
}

/** A string as plain text, with its line breaks. */
export function StringValue({ text }: Pick<Piece, "text">) {
  return text.includes("\n") ? <TextValue text={text} /> : <code class="wrap">{text}</code>;
}

function TextValue({ text }: Pick<Piece, "text">) {
  const mayScroll = text.length > lengthAtFirst || text.split("\n").length > linesAtFirst;
  return (
    // A scrollable area must be reachable by keyboard.
    <pre class="config-value" tabIndex={mayScroll ? 0 : undefined}>
      {text}
    </pre>
  );
}
