import { noUpstreams, unservedIn, waitAsTold } from "../../../../json/refusal-texts.ts";
import type { ApiError } from "../../api/api-error.ts";

interface RefusalMessageProps {
  readonly error: ApiError;
  /** The address of the editor, where another model can be chosen. */
  readonly editorHref: string;
}

/** Explains a refusal by the gateway to somebody at a screen; the API's message is meant for programs and operators. */
export function RefusalMessage({ error: { message }, editorHref }: RefusalMessageProps) {
  const unserved = unservedIn(message);
  if (unserved)
    return (
      <p class="wrap">
        No upstream of this gateway serves <code>{unserved.model}</code> for <code>{unserved.dialect}</code> requests.{" "}
        <a href={editorHref}>Choose another model</a>, or ask whoever runs the gateway for this one.
      </p>
    );
  if (message === noUpstreams)
    return <p>This gateway has no upstream to send requests to. Ask whoever runs it for one.</p>;
  return <p class="wrap">{message.replace(waitAsTold, "Try again in a moment.")}</p>;
}
