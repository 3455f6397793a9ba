import { parentPort, workerData } from "node:worker_threads";
import { CollectorClient } from "./collector-client.ts";

// The thread that speaks HTTP with a collector for its process (collector-thread.ts).

const client = new CollectorClient(workerData);

parentPort?.on("message", async (body: string | undefined) => {
  if (body === undefined) return client.stopRetrying();
  const fault = await client.send(body).then(
    () => undefined,
    ({ message, code }: Error & { code?: string | number }) => ({ message, code }),
  );
  parentPort?.postMessage(fault);
});
