import type { Span } from "../../../services/platform/observe/trace.ts";
import { type CallName, countsTokens } from "../calls.ts";
import type { Upstream } from "../upstreams/upstreams.ts";
import { modelIn } from "./answer-model.ts";
import type { ClientAnswer } from "./client-answer.ts";
import { shownName } from "./shown-name.ts";

/** The preset that a request was made with. */
export interface UsedPreset {
  readonly slug: string;
  readonly version: number;
}

/** Begins the span of a call to an upstream, with OpenTelemetry's names for generative AI. */
export function beginUpstreamSpan(
  parent: Span,
  upstream: Upstream,
  call: CallName,
  model: string,
  preset: UsedPreset | undefined,
): Span {
  // All dialects are conversations.
  const operation = countsTokens(call) ? "count_tokens" : "chat";
  const modelName = shownName(model);
  return parent.beginCall(`${operation} ${modelName}`, {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": upstream.name,
    "gen_ai.request.model": modelName,
    "server.address": upstream.baseUrl.hostname,
    "setpoint.preset.slug": preset && shownName(preset.slug),
    "setpoint.preset.version": preset?.version,
  });
}

/** Records what an answer reports about itself. */
export function recordAnswer(span: Span, { status, tail, usage }: ClientAnswer): void {
  span.set({
    "http.response.status_code": status,
    "gen_ai.response.model": modelIn(tail.start) ?? modelIn(tail.text()),
    "gen_ai.usage.input_tokens": usage?.input,
    "gen_ai.usage.output_tokens": usage?.output,
  });
}
