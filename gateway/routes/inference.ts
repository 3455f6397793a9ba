import type { FastifyInstance } from "fastify";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import type { Access } from "../auth/access.ts";
import type { DialectName } from "../dialects/dialect-name.ts";
import { callNames, dialectByCall, fieldsTakenBy } from "../inference/calls.ts";
import { explanationOf } from "../inference/forward/explanation.ts";
import type { Forwarder } from "../inference/forward/forwarder.ts";
import type { InferenceMetrics } from "../inference/inference-metrics.ts";
import { mergeRequest, narrowedPreset } from "../inference/merge/merge.ts";
import type { CachedPreset, PresetCache } from "../inference/presets/preset-cache.ts";
import { isExplained } from "../inference/request/explain-header.ts";
import { presetReferenceOf } from "../inference/request/preset-reference.ts";
import { replacesSystemPrompt } from "../inference/request/prompt-header.ts";
import { withRawBodies } from "../inference/request/raw-bodies.ts";
import { readRequestBody } from "../inference/request/request-body.ts";
import { requireBody } from "../json/body.ts";
import type { ErrorShape } from "../json/errors.ts";
import { inferenceOperation } from "../openapi/inference-operations.ts";

interface Inference {
  Body: Buffer | undefined;
}

/** The routes that send requests to an upstream: one for each call. */
export async function inferenceRoutes(
  app: FastifyInstance,
  access: Access,
  presetCache: PresetCache,
  forwarder: Forwarder,
  metrics: InferenceMetrics,
  bodyLimit: number,
): Promise<void> {
  const onRequest = access.withInference();
  await withRawBodies(app, (scope) => {
    for (const call of callNames) {
      const dialect = dialectByCall[call];
      const taken = fieldsTakenBy(call);
      scope.post<Inference>(
        `/api/v1/${call}`,
        { schema: inferenceOperation(call), config: { errorShape: errorShapes[dialect] }, onRequest, bodyLimit },
        async (request, reply) => {
          const { caller, headers } = request;
          const replaceSystemPrompt = replacesSystemPrompt(headers);
          const explains = isExplained(headers);
          const read = readRequestBody(requireBody(request.body));
          const body = read instanceof Promise ? await read : read;
          const reference = presetReferenceOf(body);
          const readAtMs = monotonicMs();
          const found = reference && presetCache.get(caller, reference, dialect);
          const preset = found instanceof Promise ? await found : found;
          if (preset) reply.header("x-setpoint-preset", nameOf(preset));
          const pinned = reference?.version !== undefined;
          const prepared = preset && taken ? narrowedPreset(preset.prepared, taken, call) : preset?.prepared;
          const outgoing = mergeRequest(body, prepared, dialect, { pinned, replaceSystemPrompt });
          if (preset) metrics.presetResolved(monotonicMs() - readAtMs);
          const explanation = explains ? explanationOf(outgoing.provenance()) : undefined;
          await forwarder.forward({ reply, call, outgoing, explanation, preset });
          return reply;
        },
      );
    }
  });
}

const errorShapes: Readonly<Record<DialectName, ErrorShape>> = {
  "chat/completions": "inference",
  messages: "anthropic",
  responses: "inference",
};

/** The value of the header that names the preset. */
function nameOf({ slug, version, isStale }: CachedPreset): string {
  return isStale ? `${slug}@${version}; stale` : `${slug}@${version}`;
}
