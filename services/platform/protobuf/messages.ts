import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { MessageInput } from "./message-input.ts";
import { MessageOutput } from "./message-output.ts";
import { messageType } from "./message-type.ts";

// Does what the library @bufbuild/protobuf also does, for the messages of our RPCs: under load, a read takes a fifth
// less CPU time this way, because the library creates five times the garbage. The library still provides the types of
// all messages, and reads and writes them everywhere else, also as JSON.

const output = new MessageOutput();

/**
 * The bytes of a message, preceded by so much room for a prefix. Throws if a value has a wrong type. Unknown fields
 * that were read are not written again: no message is passed on.
 */
export function writeMessage<Desc extends DescMessage>(
  descriptor: Desc,
  message: MessageInitShape<Desc>,
  roomBytes = 0,
): Buffer {
  try {
    messageType(descriptor).write(output, message as Record<string, unknown>);
    return output.copy(roomBytes);
  } finally {
    output.clear();
  }
}

/** Throws if the bytes are not a message of this type. */
export function readMessage<Desc extends DescMessage>(descriptor: Desc, bytes: Buffer): MessageShape<Desc> {
  const type = messageType(descriptor);
  const message = type.make();
  type.readInto(message, new MessageInput(bytes));
  return message as unknown as MessageShape<Desc>;
}
