import { type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { grpcPathOf } from "../../services/platform/rpc/grpc-messages.ts";

const asIs = (bytes: Buffer): Buffer => bytes;

/** A method in the form that grpc-js needs, from its generated descriptor. Servers serialize messages themselves. */
export function grpcDefinitionOf(method: DescMethod) {
  return {
    path: grpcPathOf(method),
    requestStream: method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
    responseStream: method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
    requestSerialize: (message: Message) => Buffer.from(toBinary(method.input, message)),
    responseDeserialize: (bytes: Buffer): Message => fromBinary(method.output, bytes),
    requestDeserialize: asIs,
    responseSerialize: asIs,
  };
}
