import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AccessService,
  ExchangeKeyRequestSchema,
  ExchangeKeyResponse,
  ExchangeOutcome,
} from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import type { DomainError } from "../../services/platform/domain/domain-error.ts";
import type { Metrics } from "../../services/platform/observe/metrics.ts";
import type { Methods } from "../../services/platform/rpc/grpc-client.ts";
import { fromStatusMessage } from "../../services/platform/rpc/status.ts";
import { batchCalls } from "./batched-calls.ts";
import { optionsOfBatch } from "./combined-options.ts";

type AccessMethods = Methods<typeof AccessService>;
type Exchange = MessageInitShape<typeof ExchangeKeyRequestSchema>;

/** Exchanges keys. Exchanges that are needed at the same time share one call, and one statement in the service. */
export type AccessClient = Pick<AccessMethods, "exchangeKey">;

/** The approximate size of a key with its options. */
const exchangeBytes = 256;

export function accessClient(methods: AccessMethods, metrics: Metrics): AccessClient {
  return {
    exchangeKey: batchCalls<Exchange, ExchangeKeyResponse>({
      observer: metrics.watchBatches("ExchangeKey"),
      bytesOf: () => exchangeBytes,
      call: methods.exchangeKey,
      callBatch: async (calls) => {
        const batch = { requests: calls.map(({ request }) => request) };
        const { outcomes } = await methods.batchExchangeKeys(batch, optionsOfBatch(calls));
        return calls.map((_, index) => fromOutcome(outcomes[index]));
      },
    }),
  };
}

function fromOutcome(part: ExchangeOutcome | undefined): ExchangeKeyResponse | DomainError | undefined {
  if (part?.outcome.case === "error") return fromStatusMessage(part.outcome.value);
  return part?.outcome.value;
}
