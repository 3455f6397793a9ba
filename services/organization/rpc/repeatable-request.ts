import { createHash } from "node:crypto";
import {
  clone,
  create,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type Message,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { invalidRequest } from "../../platform/domain/domain-error.ts";
import { requestIdViolations } from "../../platform/domain/text-violations.ts";
import type { RepeatableRequest } from "../store/change-requests.ts";

/** A request that may have a request id. */
export type IdentifiedMessage = Message & { readonly requestId: string };

/** How a retry of the request is recognized, and how its answer is stored. Undefined if it has no request id. */
export function repeatableRequest<I extends DescMessage, O extends DescMessage>(
  { input, output }: DescMethodUnary<I, O>,
  request: IdentifiedMessage,
): RepeatableRequest<MessageInitShape<O>> | undefined {
  const { requestId } = request;
  if (requestId === "") return undefined;
  const violations = requestIdViolations(requestId);
  if (violations.length > 0) throw invalidRequest(violations);
  return {
    requestId,
    digest: createHash("sha256")
      .update(`${input.typeName}\n`)
      .update(toBinary<DescMessage>(input, Object.assign(clone<DescMessage>(input, request), { requestId: "" })))
      .digest(),
    toBytes: (answer) => toBinary(output, create(output, answer)),
    fromBytes: (bytes) => fromBinary(output, bytes) as MessageInitShape<O>,
  };
}
