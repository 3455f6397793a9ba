/**
 * What is used of `node:http`. Whatever imports that has Node read all that it exports, and so load its own `fetch` and
 * WebSocket, which nobody here uses: 70 ms of every start, and 10 MiB for good.
 */
export const { Agent, createServer, METHODS, request, STATUS_CODES } = process.getBuiltinModule("node:http");
