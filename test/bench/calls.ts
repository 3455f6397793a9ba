import { isDeepStrictEqual } from "node:util";
import { type Body, largeBody, ordinaryBody } from "./bodies.ts";
import { numberedKey, numberedSlug } from "./ids.ts";
import type { SideName } from "./processes.ts";
import type { Tenant } from "./tenant.ts";

/** What a load process is told to do; plain data, because it goes to another process. */
export type Task =
  | { readonly kind: "create-new"; readonly tenant: Tenant; readonly body: "ordinary" | "large" }
  | { readonly kind: "create-hot"; readonly tenant: Tenant; readonly slugs: number }
  /** Reads `count` filled presets that lie evenly among the first `of`. */
  | { readonly kind: "get"; readonly tenant: Tenant; readonly count: number; readonly of: number }
  /** Reads filled presets, each time with a key that was not used before. */
  | { readonly kind: "get-by-new-keys"; readonly tenant: Tenant; readonly presets: number }
  | { readonly kind: "list-presets"; readonly tenant: Tenant; readonly offset: number; readonly total: number }
  | {
      readonly kind: "list-versions";
      readonly tenant: Tenant;
      readonly slug: string;
      readonly offset: number;
      readonly total: number;
    }
  | { readonly kind: "list-members"; readonly tenant: Tenant; readonly offset: number; readonly total: number }
  /** Nine reads for each creation, everywhere among the tenants, each of which has `presets` filled presets. */
  | { readonly kind: "mixed"; readonly tenants: readonly Tenant[]; readonly presets: number }
  /** Always the same request, which an upstream answers. At least so many bytes of its body must have come there. */
  | {
      readonly kind: "infer";
      readonly request: string;
      readonly isStreamed: boolean;
      readonly bytesUpstreamMin: number;
    };

/** One request, and what its answer must be. */
export interface Call {
  readonly request: string;
  /** The preset that gets a version by it; undefined for a read. */
  readonly creation?: { readonly workspaceId: string; readonly slug: string; readonly isNew: boolean };
  readonly isRight: (body: string) => boolean;
}

// The parts of the answers that are looked at; the rest is the business of tests.
interface Answer {
  readonly data: {
    readonly slug: string;
    readonly designated_version: { readonly config: unknown; readonly system_prompt: string };
    readonly length: number;
  };
  readonly total_count: number;
}

/** Of every list that is asked for. */
export const pageSize = 50;
/** In all rounds together: in a later one, too, a key must be new. One that was not filled is refused. */
let newKeysUsed = 0;

/** Makes the calls of a task, one after another, as one side takes them. `run` keeps the slugs of two runs apart. */
export function callsOf(task: Task, side: SideName, run: string): () => Call {
  switch (task.kind) {
    case "create-new": {
      let serial = 0;
      const body = task.body === "large" ? largeBody : ordinaryBody;
      return () => {
        serial += 1;
        return create(side, task.tenant, `new-${run}-${serial}`, body, true);
      };
    }
    case "create-hot":
      return () => create(side, task.tenant, `hot-${task.slugs}-${random(task.slugs)}`, ordinaryBody, false);
    case "get": {
      const stride = Math.floor(task.of / task.count);
      return () => get(side, task.tenant, numberedSlug(random(task.count) * stride));
    }
    case "get-by-new-keys":
      return () => {
        const apiKeys = side === "setpoint" ? [numberedKey(newKeysUsed++)] : [];
        return get(side, { ...task.tenant, apiKeys }, numberedSlug(random(task.presets)));
      };
    case "list-presets":
      return list(task, "/presets", workspaceHeader(side, task.tenant));
    case "list-versions":
      return list(task, `/presets/${task.slug}/versions`, workspaceHeader(side, task.tenant));
    case "list-members":
      return list(task, "/organization/members", organizationHeader(side, task.tenant));
    case "mixed":
      return () => {
        const tenant = task.tenants[random(task.tenants.length)] as Tenant;
        const slug = numberedSlug(random(task.presets));
        return random(10) === 0 ? create(side, tenant, slug, ordinaryBody, false) : get(side, tenant, slug);
      };
    case "infer":
      return infer(task);
  }
}

function create(side: SideName, tenant: Tenant, slug: string, body: Body, isNew: boolean): Call {
  const head = `POST /api/v1/presets/${slug}/chat/completions HTTP/1.1\r\nhost: bench\r\n${workspaceHeader(side, tenant)}`;
  return {
    request: `${head}content-type: application/json\r\ncontent-length: ${body.text.length}\r\n\r\n${body.text}`,
    creation: { workspaceId: tenant.workspaceId, slug, isNew },
    isRight: (text) => holds(JSON.parse(text), slug, body),
  };
}

function get(side: SideName, tenant: Tenant, slug: string): Call {
  return {
    request: `GET /api/v1/presets/${slug} HTTP/1.1\r\nhost: bench\r\n${workspaceHeader(side, tenant)}\r\n`,
    isRight: (text) => holds(JSON.parse(text), slug, ordinaryBody),
  };
}

function holds({ data }: Answer, slug: string, { configJson, systemPrompt }: Body): boolean {
  const { config, system_prompt } = data.designated_version;
  return data.slug === slug && system_prompt === systemPrompt && isDeepStrictEqual(config, JSON.parse(configJson));
}

function list(
  { offset, total }: { readonly offset: number; readonly total: number },
  path: string,
  header: string,
): () => Call {
  const call = {
    request: `GET /api/v1${path}?offset=${offset}&limit=${pageSize} HTTP/1.1\r\nhost: bench\r\n${header}\r\n`,
    isRight: (text: string) => {
      const { data, total_count }: Answer = JSON.parse(text);
      return data.length === pageSize && total_count === total;
    },
  };
  return () => call;
}

function infer({ request, isStreamed, bytesUpstreamMin }: Task & { readonly kind: "infer" }): () => Call {
  const end = isStreamed ? "data: [DONE]\n\n" : "}";
  const call = {
    request,
    isRight: (text: string) =>
      text.endsWith(end) && Number(/"prompt_tokens":(\d+)/.exec(text)?.[1]) >= bytesUpstreamMin,
  };
  return () => call;
}

/** The yardstick has no keys: it is told whose request it is. */
function workspaceHeader(side: SideName, { workspaceId, apiKeys }: Tenant): string {
  if (side === "yardstick") return `x-workspace-id: ${workspaceId}\r\n`;
  return `authorization: Bearer ${apiKeys[random(apiKeys.length)]}\r\n`;
}

function organizationHeader(side: SideName, { organizationId, managementKey }: Tenant): string {
  if (side === "yardstick") return `x-organization-id: ${organizationId}\r\n`;
  return `authorization: Bearer ${managementKey}\r\n`;
}

function random(below: number): number {
  return Math.floor(Math.random() * below);
}
