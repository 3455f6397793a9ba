import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEchoServer } from "../../deploy/local/echo-upstream/server.ts";
import { type Stack, startStack } from "./stack.ts";

/** A stack whose gateway sends inference to the echo upstream, and to others behind it in the table. */
export interface InferenceStack extends Stack {
  readonly echo: Server;
}

const dialects = ["chat/completions", "messages", "responses"];

export async function startInferenceStack(others: readonly object[] = []): Promise<InferenceStack> {
  const echo = createEchoServer().listen(0, "127.0.0.1");
  await once(echo, "listening");
  const folder = mkdtempSync(join(tmpdir(), "setpoint-inference-"));
  const upstreamsFile = join(folder, "upstreams.json");
  const base_url = `http://127.0.0.1:${(echo.address() as AddressInfo).port}/v1`;
  const models = ["echo/small", "echo/*"];
  writeFileSync(
    upstreamsFile,
    JSON.stringify({ upstreams: [{ name: "echo", base_url, dialects, models }, ...others] }),
  );
  const stack = await startStack({ gateway: { upstreamsFile } });
  return {
    ...stack,
    echo,
    close: async () => {
      await stack.close();
      echo.close();
      echo.closeAllConnections();
      rmSync(folder, { recursive: true });
    },
  };
}
