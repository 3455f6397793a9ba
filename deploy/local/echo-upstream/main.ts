import { createEchoServer } from "./server.ts";

const { ECHO_PORT: port, HOST: host } = process.env;
const server = createEchoServer().listen(Number(port), host, () => console.log(`listening on ${host}:${port}`));

process.once("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
});
