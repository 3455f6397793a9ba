import type { ApiError } from "../../api/api-error.ts";

interface RefusalWordsProps {
  readonly error: ApiError;
  /** The address of the editor, where another model can be chosen. */
  readonly editorHref: string;
}

const unserved = /^No upstream serves the model (.+) in (\S+)\. /;
const noUpstreams = /^This gateway has no upstreams/;
const waiting = / Wait as long as Retry-After says\.$/;

/** Explains a refusal by the gateway to somebody at a screen; the API's message is meant for programs and operators. */
export function RefusalWords({ error: { message }, editorHref }: RefusalWordsProps) {
  const [, model, dialect] = unserved.exec(message) ?? [];
  if (model !== undefined)
    return (
      <p class="wrap">
        No upstream of this gateway serves <code>{model}</code> for <code>{dialect}</code> requests.{" "}
        <a href={editorHref}>Choose another model</a>, or ask whoever runs the gateway for this one.
      </p>
    );
  if (noUpstreams.test(message))
    return <p>This gateway has no upstream to send requests to. Ask whoever runs it for one.</p>;
  return <p class="wrap">{message.replace(waiting, " Try again in a moment.")}</p>;
}
