import { describe, expect, it } from "vitest";
import { GetKeySetResponseSchema } from "../../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { answerFrame } from "./grpc-answer.ts";
import { prefixBytes } from "./grpc-messages.ts";
import { responseBytesMax } from "./message-sizes.ts";

describe("an answer", () => {
  /** An answer of this size: its only field takes five bytes for itself. */
  const frameOfBytes = (bytes: number) => answerFrame(GetKeySetResponseSchema, { jwksJson: "a".repeat(bytes - 5) });

  it("may be as large as our clients accept, and no larger", () => {
    expect(frameOfBytes(responseBytesMax)).toHaveLength(prefixBytes + responseBytesMax);
    expect(() => frameOfBytes(responseBytesMax + 1)).toThrow(expect.objectContaining({ reason: "ANSWER_TOO_LARGE" }));
  });
});
