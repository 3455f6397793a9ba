import { afterAll, beforeAll, expect, it } from "vitest";
import type { KeyJson, WorkspaceJson } from "../support/administration-rest.ts";
import { type Expected, OrganizationModel } from "../support/organization-model.ts";
import { upTo } from "../support/preset-store.ts";
import { oneOf, type Random, randomFrom } from "../support/random-json.ts";
import type { Answer } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";
import type { Tenant } from "../support/tenants.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

it.each([1, 2, 3, 4, 5])("random calls, series %i, are answered as the model of an organization says", async (seed) => {
  const walk = new Walk(randomFrom(seed), await stack.tenants.createOrganization());
  await walk.begin();
  for (const _ of upTo(300)) await walk.step();
  await walk.compareAll();
});

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly expected: Expected;
}

/** A change that was made, so that it can be repeated. */
interface Made {
  readonly call: Call;
  readonly idempotencyKey: string;
  readonly text: string;
}

/** Calls with one management key, one after the other, each compared with the model. */
class Walk {
  readonly #random: Random;
  readonly #tenant: Tenant;
  readonly #model: OrganizationModel;
  readonly #made: Made[] = [];
  /** Also of what has been removed. */
  readonly #ids = { members: new Set<string>(), workspaces: new Set<string>(), keys: new Set<string>() };
  #steps = 0;

  constructor(random: Random, tenant: Tenant) {
    this.#random = random;
    this.#tenant = tenant;
    this.#model = new OrganizationModel(tenant.userId, tenant.workspaceId);
  }

  /** Takes over what the organization has from the start. The key that all calls are made with stays out of it. */
  async begin(): Promise<void> {
    const { members, workspaces, keys } = await this.#read();
    for (const { id, email, role } of members) this.#model.members.set(id, { email, role });
    for (const { id, slug, name } of workspaces) this.#model.workspaces.set(id, { slug, name, members: new Set() });
    for (const { id, name, workspace_id, disabled } of keys) {
      this.#model.keys.set(id, { name, workspaceId: workspace_id, userId: this.#tenant.userId, disabled });
    }
    this.#rememberIds();
  }

  async step(): Promise<void> {
    this.#steps += 1;
    if (this.#made.length > 0 && this.#random(5) === 0) return this.#repeat(oneOf(this.#random, this.#made));
    const call = this.#nextCall();
    const idempotencyKey = `step ${this.#steps}`;
    const answer = await this.#send(call, idempotencyKey);
    expect([call.path, call.body, answer.status]).toEqual([call.path, call.body, call.expected.status]);
    if (answer.status >= 300) return;
    call.expected.done?.(answer.json.data);
    this.#rememberIds();
    this.#made.push({ call, idempotencyKey, text: answer.text });
  }

  async compareAll(): Promise<void> {
    const { members, workspaces, keys } = await this.#read();
    expect(new Map(members.map(({ id, email, role }) => [id, { email, role }]))).toEqual(this.#model.members);
    const found = await Promise.all(
      workspaces.map(async ({ id, slug, name }) => {
        if (id === this.#tenant.workspaceId) return [id, { slug, name, members: new Set() }] as const;
        const { json } = await this.#get<{ user_id: string }[]>(`/workspaces/${id}/members`);
        return [id, { slug, name, members: new Set(json.data.map(({ user_id }) => user_id)) }] as const;
      }),
    );
    expect(new Map(found)).toEqual(this.#withoutDefaultMembers());
    const listed = keys.map(({ id, name, workspace_id: workspaceId, creator_user_id: userId, disabled }) => {
      return [id, { name, workspaceId, userId, disabled }] as const;
    });
    const inWorkspaces = [...this.#model.keys].filter(([, key]) => this.#model.workspaces.has(key.workspaceId));
    expect(new Map(listed)).toEqual(new Map(inWorkspaces));
  }

  #nextCall(): Call {
    const userId = this.#anyOf(this.#ids.members);
    const workspaceId = this.#anyOf(this.#ids.workspaces);
    const keyId = this.#anyOf(this.#ids.keys);
    const email = `${oneOf(this.#random, ["ada", "bob", "eve"])}@${this.#tenant.organizationId}.example`;
    const role = oneOf(this.#random, ["org:member", "org:admin"]);
    const slug = oneOf(this.#random, ["red", "green", "blue"]);
    const name = oneOf(this.#random, ["Name", `Name ${this.#steps}`]);
    const disabled = oneOf(this.#random, [true, false]);
    const model = this.#model;
    const calls: (() => Call)[] = [
      () => post("/organization/members", { email, role }, model.addMember(email, role)),
      () => patch(`/organization/members/${userId}`, { role }, model.changeRole(userId, role)),
      () => remove(`/organization/members/${userId}?disable_keys=${disabled}`, model.removeMember(userId, disabled)),
      () => post("/workspaces", { slug, name }, model.createWorkspace(slug, name)),
      () => patch(`/workspaces/${workspaceId}`, { slug, name }, model.updateWorkspace(workspaceId, slug, name)),
      () => remove(`/workspaces/${workspaceId}`, model.deleteWorkspace(workspaceId)),
      () => {
        const path = `/workspaces/${workspaceId}/members/add`;
        return post(path, { user_ids: [userId] }, model.addWorkspaceMember(workspaceId, userId));
      },
      () => {
        const path = `/workspaces/${workspaceId}/members/remove`;
        return post(path, { user_ids: [userId] }, model.removeWorkspaceMember(workspaceId, userId));
      },
      () => {
        const body = { name, workspace_id: workspaceId, creator_user_id: userId };
        return post("/keys", body, model.createKey(name, workspaceId, userId));
      },
      () => patch(`/keys/${keyId}`, { name, disabled }, model.updateKey(keyId, { name, disabled })),
      () => post(`/keys/${keyId}/rotate`, {}, model.rotateKey(keyId)),
      () => remove(`/keys/${keyId}`, model.deleteKey(keyId)),
    ];
    // The owner's rights are those of the calls: only what must be refused is tried on them.
    const isMeant = ({ path, expected }: Call) => !path.includes(this.#tenant.userId) || expected.status >= 300;
    for (;;) {
      const call = oneOf(this.#random, calls)();
      if (isMeant(call)) return call;
    }
  }

  /** A change that was made long ago is answered as it was then, and not made again. A secret is not shown again. */
  async #repeat({ call, idempotencyKey, text }: Made): Promise<void> {
    const changes = await this.#changeCount();
    const again = await this.#send(call, idempotencyKey);
    if (call.path === "/keys" || call.path.endsWith("/rotate")) expect(again.status).toBe(409);
    else expect([again.status, again.text]).toEqual([call.expected.status, text]);
    const other = await this.#send(
      post("/workspaces", { slug: "other", name: "Other" }, call.expected),
      idempotencyKey,
    );
    expect(other.status).toBe(409);
    expect(await this.#changeCount()).toBe(changes);
  }

  async #changeCount(): Promise<number> {
    return (await this.#get("/organization/changes?limit=1")).json.total_count;
  }

  #anyOf(ids: ReadonlySet<string>): string {
    return oneOf(this.#random, [...ids]);
  }

  #rememberIds(): void {
    for (const kind of ["members", "workspaces", "keys"] as const) {
      for (const id of this.#model[kind].keys()) this.#ids[kind].add(id);
    }
  }

  #withoutDefaultMembers() {
    const workspaces = new Map(this.#model.workspaces);
    const own = workspaces.get(this.#tenant.workspaceId);
    if (own) workspaces.set(this.#tenant.workspaceId, { ...own, members: new Set() });
    return workspaces;
  }

  async #read() {
    const { json: members } = await this.#get<{ id: string; email: string; role: string }[]>("/organization/members");
    const { json: workspaces } = await this.#get<WorkspaceJson[]>("/workspaces");
    const keys = await Promise.all(
      workspaces.data.map(({ id }) => this.#get<KeyJson[]>(`/keys?include_disabled=true&workspace_id=${id}`)),
    );
    return {
      members: members.data,
      workspaces: workspaces.data,
      keys: keys.flatMap(({ json }) => json.data).filter(({ kind }) => kind === "api"),
    };
  }

  #get<Data>(path: string): Promise<Answer<Data>> {
    return stack.request("GET", path, { key: this.#tenant.managementKey });
  }

  #send({ method, path, body }: Call, idempotencyKey: string): Promise<Answer<{ readonly id: string }>> {
    const headers = { "idempotency-key": idempotencyKey };
    return stack.request(method, path, {
      key: this.#tenant.managementKey,
      headers,
      ...(body === undefined ? {} : { body }),
    });
  }
}

function post(path: string, body: object, expected: Expected): Call {
  return { method: "POST", path, body, expected };
}

function patch(path: string, body: object, expected: Expected): Call {
  return { method: "PATCH", path, body, expected };
}

function remove(path: string, expected: Expected): Call {
  return { method: "DELETE", path, expected };
}
