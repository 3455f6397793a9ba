import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jsonType, userId } from "../support/patterns.ts";
import { type Stack, startStack } from "../support/stack.ts";

interface MemberJson {
  readonly id: string;
  readonly email: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly role: string;
}

const memberCount = 120;
let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
  const soon = Date.now() + 1_000;
  await stack.tenants.addMembers(
    stack,
    // Pairs share a millisecond, and each pair is older than the one before it.
    Array.from({ length: memberCount - 1 }, (_, index) => ({
      email: `member-${index}@example.com`,
      firstName: index === 0 ? "Zoë" : undefined,
      lastName: index === 0 ? 'O"Neil' : undefined,
      role: "org:member" as const,
      createdAt: new Date(soon + memberCount - Math.floor(index / 2)),
    })),
  );
});

afterAll(() => stack.close());

function list(query = "", key = stack.managementKey) {
  return stack.request<MemberJson[]>("GET", `/organization/members${query}`, { key });
}

describe("the member list", () => {
  it("returns exactly the documented fields", async () => {
    const { status, headers, json } = await list("?limit=100");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(jsonType);
    expect(Object.keys(json).sort()).toEqual(["data", "total_count"]);
    expect(json.data[0]).toEqual({
      id: stack.userId,
      email: expect.stringMatching(/@example\.com$/),
      first_name: null,
      last_name: null,
      role: "org:admin",
    });
    const rest = await list("?offset=100");
    const named = [...json.data, ...rest.json.data].find(({ email }) => email === "member-0@example.com");
    expect(named).toEqual({
      id: expect.stringMatching(userId),
      email: "member-0@example.com",
      first_name: "Zoë",
      last_name: 'O"Neil',
      role: "org:member",
    });
  });

  it("is complete across pages without duplicates, oldest first, then by id", async () => {
    const pages = await Promise.all(
      [0, 7, 57, 107].map((offset, page) => list(`?offset=${offset}&limit=${page ? 50 : 7}`)),
    );
    const members = pages.flatMap(({ json }) => json.data);
    expect(new Set(members.map(({ id }) => id)).size).toBe(memberCount);
    // The highest number is the oldest member; numbers 2n and 2n + 1 share a time and are ordered by id.
    const places = members
      .slice(1)
      .map(({ email, id }) => ({ pair: Math.floor(Number(email.match(/\d+/)?.[0]) / 2), id }));
    expect(places).toEqual(places.toSorted((a, b) => b.pair - a.pair || (a.id < b.id ? -1 : 1)));
  });

  it.each([
    ["", 50],
    ["?limit=1", 1],
    ["?limit=100", 100],
    ["?offset=0&limit=50", 50],
    ["?offset=119", 1],
    ["?offset=100&limit=100", 20],
    ["?offset=120", 0],
    ["?offset=2147483647", 0],
    ["?unknown=1&limit=2", 2],
  ])("returns the page for %j and always the total", async (query, length) => {
    const { status, json } = await list(query);
    expect(status).toBe(200);
    expect(json.data).toHaveLength(length);
    expect(json.total_count).toBe(memberCount);
  });

  it.each([
    ["?limit=0", ["limit"]],
    ["?limit=-1", ["limit"]],
    ["?limit=101", ["limit"]],
    ["?limit=abc", ["limit"]],
    ["?limit=1e1", ["limit"]],
    ["?limit=%2B5", ["limit"]],
    ["?limit=1.5", ["limit"]],
    ["?limit=5.0", ["limit"]],
    ["?limit=0x10", ["limit"]],
    ["?limit=%205", ["limit"]],
    ["?limit=", ["limit"]],
    ["?limit", ["limit"]],
    ["?limit=5&limit=6", ["limit"]],
    ["?limit[]=5&limit[]=6&limit=null", ["limit"]],
    ["?offset=-1", ["offset"]],
    ["?offset=abc", ["offset"]],
    ["?offset=", ["offset"]],
    ["?offset=1&offset=1", ["offset"]],
    ["?offset=2147483648", ["offset"]],
    ["?offset=99999999999999999999", ["offset"]],
    ["?offset=-1&limit=0", ["limit", "offset"]],
  ])("returns 400 for %j instead of clamping", async (query, paths) => {
    const { status, json } = await list(query);
    expect(status).toBe(400);
    const issues = json.error.metadata.issues ?? [];
    expect(issues.map(({ path }) => path).sort()).toEqual(paths);
    for (const { message } of issues) expect(message).toMatch(/^must /);
  });

  it("contains only members of the key's organization", async () => {
    const other = await stack.tenants.createOrganization();
    const { json } = await list("", other.managementKey);
    expect(json).toMatchObject({ data: [{ id: other.userId }], total_count: 1 });
  });
});
