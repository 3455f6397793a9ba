import type { DescMessage } from "@bufbuild/protobuf";
import { DomainError, invalidRequest } from "../domain/domain-error.ts";

// The errors for requests that a transport cannot turn into a call. They quote nothing of the request, which may
// contain a prompt or a key.

/** A request that is not the message it should be. */
export function unreadableRequest({ typeName }: DescMessage, path = ""): DomainError {
  return invalidRequest([{ path, message: `must be one ${typeName}, in the encoding that the request names` }]);
}

const timeoutRules = {
  "connect-timeout-ms": "must be milliseconds, of at most 10 digits",
  "grpc-timeout": "must be at most 8 digits and a unit, such as 500m",
} as const;

export function invalidTimeout(header: keyof typeof timeoutRules): DomainError {
  return invalidRequest([{ path: header, message: timeoutRules[header] }]);
}

export function requestTooLarge(bytesMax: number): DomainError {
  return new DomainError("resource_exhausted", {
    reason: "REQUEST_TOO_LARGE",
    message: `The body must be at most ${bytesMax} bytes`,
    violations: [{ path: "", message: `must be at most ${bytesMax} bytes` }],
  });
}

export function unsupportedRequest(): DomainError {
  return new DomainError("unimplemented", {
    reason: "UNSUPPORTED_REQUEST",
    message: "Send exactly one message, and do not compress it",
  });
}

/** Too much is in memory already. What is being processed is finished. */
export function overloaded(): DomainError {
  return new DomainError("unavailable", {
    reason: "OVERLOADED",
    message: "Too much is being sent at once; nothing was stored. Try again in a moment.",
    retryAfterMs: 1_000,
  });
}

/** An answer that is larger than our clients accept. */
export function answerTooLarge(): DomainError {
  return new DomainError("resource_exhausted", {
    reason: "ANSWER_TOO_LARGE",
    message: "The answer would be too large. Ask for fewer items at once.",
  });
}
