import { type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import type { MethodDefinition } from "@grpc/grpc-js";

/** The largest request is a version of 2 MiB; more is let in, so that the answer can say which part is too large. */
export const requestBytesMax = 16 * 1024 * 1024;

/** The largest answer is a page of 100 versions of 2 MiB each. */
export const responseBytesMax = 256 * 1024 * 1024;

/** A method as grpc-js wants it, from its generated descriptor. */
export function grpcDefinitionOf(method: DescMethod): MethodDefinition<Message, Message> {
  const encode = (schema: DescMethod["input"]) => (message: Message) => Buffer.from(toBinary(schema, message));
  const decode = (schema: DescMethod["input"]) => (bytes: Buffer) => fromBinary(schema, bytes);
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
    responseStream: method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
    requestSerialize: encode(method.input),
    requestDeserialize: decode(method.input),
    responseSerialize: encode(method.output),
    responseDeserialize: decode(method.output),
  };
}
