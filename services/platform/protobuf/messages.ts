import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { MessageInput } from "./message-input.ts";
import { MessageOutput } from "./message-output.ts";
import { messageType } from "./message-type.ts";

// What the library @bufbuild/protobuf does as well, for the messages that our RPCs carry: under load, a read takes a fifth
// less processor time by this, because the library makes five times the garbage. It still knows the types of all messages,
// and reads and writes them for everybody else, as JSON too.

const output = new MessageOutput();

/**
 * The bytes of a message, behind so much room for what goes before them. Throws if a value is of a wrong type. What was
 * read and is not known is not written again: no message is handed on.
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

/** Throws if the bytes are no message of this type. */
export function readMessage<Desc extends DescMessage>(descriptor: Desc, bytes: Buffer): MessageShape<Desc> {
  const type = messageType(descriptor);
  const message = type.make();
  type.readInto(message, new MessageInput(bytes));
  return message as unknown as MessageShape<Desc>;
}
