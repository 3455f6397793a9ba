/**
 * What is used of `node:http`. Whatever imports that has Node read all that it exports, and so load its own `fetch` and
 * WebSocket, which nobody here uses: some 70 ms of every start, and memory for good.
 */
export const { Agent, createServer, METHODS, request, STATUS_CODES } = process.getBuiltinModule("node:http");
