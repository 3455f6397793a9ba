import { type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";

/** A version is 2 MiB at most; more is let in for batches, and so that the answer can say which part is too large. */
export const requestBytesMax = 16 * 1024 * 1024;

/** Of a method that takes no content: room for a batch of a hundred names with an access token each. */
export const smallRequestBytesMax = 192 * 1024;

/** The largest answer is that to a batch of creations, which repeats their content. */
export const responseBytesMax = 32 * 1024 * 1024;

export type GrpcDefinition = ReturnType<typeof grpcDefinitionOf>;

const asIs = (bytes: Buffer): Buffer => bytes;

/** A method as grpc-js wants it, from its generated descriptor. */
export function grpcDefinitionOf(method: DescMethod) {
  return {
    path: grpcPathOf(method),
    requestStream: method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
    responseStream: method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
    requestSerialize: (message: Message) => encode(method.input, message),
    responseDeserialize: (bytes: Buffer): Message => fromBinary(method.output, bytes),
    // A server reads and writes messages itself: where it cannot, grpc-js would answer INTERNAL without a word to our log.
    requestDeserialize: asIs,
    responseSerialize: asIs,
  };
}

export function grpcPathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}

/** Without a copy. */
export function encode(schema: DescMethod["input"], message: Message): Buffer {
  const { buffer, byteOffset, byteLength } = toBinary(schema, message);
  return Buffer.from(buffer, byteOffset, byteLength);
}
