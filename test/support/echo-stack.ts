import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createEchoServer } from "../../deploy/local/echo-upstream/server.ts";
import { dialectNames } from "../../gateway/dialects/dialect-name.ts";
import { type InferenceStack, startInferenceStack } from "./inference.ts";

/** A stack whose gateway sends inference to the echo upstream, with other upstreams after it in the table. */
export interface EchoStack extends InferenceStack {
  readonly echo: Server;
}

export async function startEchoStack(others: readonly object[] = []): Promise<EchoStack> {
  const echo = createEchoServer().listen(0, "127.0.0.1");
  await once(echo, "listening");
  const base_url = `http://127.0.0.1:${(echo.address() as AddressInfo).port}/v1`;
  const models = ["echo/small", "echo/*"];
  const upstreams = [{ name: "echo", base_url, dialects: dialectNames, models }, ...others];
  const stack = await startInferenceStack({ upstreams });
  return {
    ...stack,
    echo,
    close: async () => {
      await stack.close();
      echo.close();
      echo.closeAllConnections();
    },
  };
}
