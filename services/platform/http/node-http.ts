/**
 * The part of `node:http` that is used. Importing the module would make Node evaluate all its exports, and so load its
 * own `fetch` and WebSocket, which nobody here uses: about 70 ms of every start, and memory permanently.
 */
export const {
  Agent,
  createServer,
  IncomingMessage,
  METHODS,
  request,
  STATUS_CODES,
  validateHeaderName,
  validateHeaderValue,
} = process.getBuiltinModule("node:http");
