import { type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { unreadableRequest } from "./errors.ts";
import type { RequestOrRefusal } from "./service.ts";

/** A version is 2 MiB at most; more is let in for batches, and so that the answer can say which part is too large. */
export const requestBytesMax = 16 * 1024 * 1024;

/** The largest answer is a batch of 100 presets of 2 MiB each. */
export const responseBytesMax = 256 * 1024 * 1024;

export type GrpcDefinition = ReturnType<typeof grpcDefinitionOf>;

/** A method as grpc-js wants it, from its generated descriptor. */
export function grpcDefinitionOf(method: DescMethod) {
  const encode = (schema: DescMethod["input"]) => (message: Message) => Buffer.from(toBinary(schema, message));
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
    responseStream: method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
    requestSerialize: encode(method.input),
    // Where this throws, grpc-js answers INTERNAL by itself.
    requestDeserialize: (bytes: Buffer): RequestOrRefusal => {
      try {
        return fromBinary(method.input, bytes);
      } catch {
        return unreadableRequest(method.input);
      }
    },
    responseSerialize: encode(method.output),
    responseDeserialize: (bytes: Buffer): Message => fromBinary(method.output, bytes),
  };
}
