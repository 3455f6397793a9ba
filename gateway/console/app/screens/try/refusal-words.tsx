import type { ApiError } from "../../api/api-error.ts";

interface RefusalWordsProps {
  readonly error: ApiError;
  /** Where another model is chosen. */
  readonly editorHref: string;
}

const unserved = /^No upstream serves the model (.+) in (\S+)\. /;
const noUpstreams = /^This gateway has no upstreams/;
const waiting = / Wait as long as Retry-After says\.$/;

/** What a refusal of the gateway means to somebody at a screen; it is told to programs and to who runs it. */
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
