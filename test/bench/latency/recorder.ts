import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { renameSync, writeFileSync } from "node:fs";
import { namesOf } from "../../../services/platform/mysql/statement-names.ts";
import { type Moment, momentsFileVariable, type What } from "./moments.ts";

// Loaded into a process before its own code. Between one SIGUSR2 and the next it listens to what Node, mysql2 and our RPCs
// publish, and then writes down what happened when. Before and after, nobody listens, so nothing is published.

const file = process.env[momentsFileVariable] ?? "";

let moments: Moment[] = [];
let isRecording = false;

function record(what: What, detail?: string): void {
  moments.push({ atUs: Number(process.hrtime.bigint()) / 1_000, what, ...(detail !== undefined && { detail }) });
}

const listeners: Readonly<Record<string, (message: unknown) => void>> = {
  "http.server.request.start": () => record("request received"),
  "setpoint.rpc.call.sent": () => record("call sent"),
  "setpoint.rpc.call.received": () => record("call received"),
  "tracing:mysql2:query:start": (message) => record("statement sent", subjectOf(message)),
  "tracing:mysql2:execute:start": (message) => record("statement sent", subjectOf(message)),
  "tracing:mysql2:query:asyncStart": () => record("statement answered"),
  "tracing:mysql2:execute:asyncStart": () => record("statement answered"),
  "setpoint.rpc.call.answered": () => record("call answered"),
  "setpoint.rpc.answer.received": () => record("answer received"),
  "http.server.response.finish": () => record("request answered"),
};

/** `INSERT presets`, `SELECT presets FOR UPDATE`, `COMMIT`. */
function subjectOf(message: unknown): string {
  const { query } = message as { readonly query: string };
  const [words] = /^START TRANSACTION|FOR UPDATE/.exec(query) ?? [];
  const { table, title } = namesOf(query);
  return table === undefined ? (words ?? title) : [title, words].filter(Boolean).join(" ");
}

process.on("SIGUSR2", () => {
  isRecording = !isRecording;
  for (const [name, listener] of Object.entries(listeners)) (isRecording ? subscribe : unsubscribe)(name, listener);
  if (isRecording) return;
  // Whoever waits for the file must not find half of it.
  writeFileSync(`${file}.part`, JSON.stringify(moments));
  renameSync(`${file}.part`, file);
  moments = [];
});
