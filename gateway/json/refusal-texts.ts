// What the gateway says in some refusals, and how the console recognises them: it explains them to somebody at a screen,
// where the API speaks to programs and operators. Errors in Anthropic's shape have no field for a reason.

export const noUpstreams = "This gateway has no upstreams to send requests to. Its operator sets UPSTREAMS_FILE.";

export const waitAsTold = "Wait as long as Retry-After says.";

/** The model may be served in other dialects. */
export function unserved(model: string, dialect: string, others: readonly string[]): string {
  const help =
    others.length > 0
      ? `It is served only in ${others.join(" and ")}; requests are not translated.`
      : "GET /api/v1/models lists what there is.";
  return `${unservedIs(model, dialect)} ${help}`;
}

function unservedIs(model: string, dialect: string): string {
  return `No upstream serves the model ${model} in ${dialect}.`;
}

const unservedPattern = new RegExp(`^${unservedIs("(?<model>.+)", "(?<dialect>\\S+)")} (?:GET|It) `, "s");

/** What no upstream serves, according to a message; undefined if it says something else. */
export function unservedIn(message: string): { readonly model: string; readonly dialect: string } | undefined {
  const { model, dialect } = unservedPattern.exec(message)?.groups ?? {};
  return model === undefined || dialect === undefined ? undefined : { model, dialect };
}
