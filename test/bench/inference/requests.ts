import type { Task } from "../calls.ts";
import { numberedSlug } from "../ids.ts";
import type { SideName } from "../processes.ts";
import type { Tenant } from "../tenant.ts";

/** Between two events of a stream: so much that each goes through a gateway on its own, also through a slow one. */
export const gapMs = 10;
/** Streams that are held open are busy now and then. */
export const heldGapMs = 1_000;
export const heldMark = '"user":"held"';

const chunksForever = 1_000_000;
const sentence = "My order 10-4471 has not arrived yet. Where is it, and can I still change the address? ";
const messages = [{ role: "user", content: sentence.repeat(10).trim() }];

export type Kind = { readonly chunks: number } | "whole" | "held";

/** A chat request of about 1 KB. */
export function bodyOf(model: string, kind: Kind): string {
  const chunks = kind === "held" ? chunksForever : kind === "whole" ? undefined : kind.chunks;
  return JSON.stringify({
    model,
    messages,
    // `max_tokens` tells the upstream how many.
    ...(chunks === undefined ? {} : { max_tokens: chunks, stream: true }),
    ...(kind === "held" ? { user: "held" } : {}),
  });
}

export const plainModel = "openai/gpt-4.1-mini";
/** Of a preset that the fixture has. Its model is the plain one. */
export const presetModel = `@preset/${numberedSlug(0)}`;

/** The bytes of a request, as this side takes them. */
export function requestTo(side: SideName, tenant: Tenant, upstreamPort: number, body: string): string {
  const path = side === "setpoint" ? "/api/v1/chat/completions" : "/v1/chat/completions";
  const headers = [
    "host: bench",
    "content-type: application/json",
    "accept: */*",
    `authorization: Bearer ${tenant.apiKeys[0]}`,
    `content-length: ${body.length}`,
  ];
  if (side === "portkey") {
    headers.push("x-portkey-provider: openai", `x-portkey-custom-host: http://127.0.0.1:${upstreamPort}/v1`);
  }
  return `POST ${path} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n${body}`;
}

export function taskOf(request: string, kind: Kind, bytesUpstreamMin: number): Task {
  return { kind: "infer", request, isStreamed: kind !== "whole", bytesUpstreamMin };
}
