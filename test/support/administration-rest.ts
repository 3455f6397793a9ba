import type { Answer, RequestParts } from "./rest.ts";
import type { Stack } from "./stack.ts";

/** A key as the gateway shows it. */
export interface KeyJson {
  readonly id: string;
  readonly hash: string;
  readonly name: string;
  readonly label: string;
  readonly kind: string;
  readonly permissions: readonly string[];
  readonly workspace_id: string;
  readonly disabled: boolean;
  readonly creator_user_id: string | null;
  readonly created_at: string;
  readonly updated_at: string | null;
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
  readonly previous_expires_at: string | null;
}

export interface WorkspaceJson {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly updated_at: string | null;
  readonly default_guardrail_id: string;
}

interface MadeKey {
  readonly data: KeyJson;
  readonly key: string;
}

/** Makes calls with the management key of the stack's organization, unless the parts name another. */
export function administrator(stack: Stack) {
  const call = <Data>(method: string, path: string, body?: unknown, parts: RequestParts = {}): Promise<Answer<Data>> =>
    stack.request<Data>(method, path, { key: stack.managementKey, ...(body === undefined ? {} : { body }), ...parts });

  return {
    call,

    /** The key and its secret, from the response that created it. */
    makeKey: async (body: object = {}, parts: RequestParts = {}): Promise<MadeKey> => {
      const answer = await call<KeyJson>("POST", "/keys", { name: "A key", ...body }, parts);
      if (answer.status !== 201) throw new Error(`No key was made: ${answer.text}`);
      return JSON.parse(answer.text);
    },

    makeWorkspace: async (slug: string): Promise<WorkspaceJson> => {
      const answer = await call<WorkspaceJson>("POST", "/workspaces", { name: slug, slug });
      if (answer.status !== 201) throw new Error(`No workspace was made: ${answer.text}`);
      return answer.json.data;
    },

    makeMember: async (email: string, role = "org:member"): Promise<string> => {
      const answer = await call<{ id: string }>("POST", "/organization/members", { email, role });
      if (answer.status !== 201) throw new Error(`No member was made: ${answer.text}`);
      return answer.json.data.id;
    },
  };
}

/** The paths that an error names. */
export function pathsOf({ json }: Answer<unknown>): string[] {
  return (json.error.metadata.issues ?? []).map(({ path }) => path).sort();
}
