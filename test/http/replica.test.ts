import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../support/database.ts";
import { createPresetDatabase } from "../support/preset-database.ts";
import { type Stack, startStack } from "../support/stack.ts";

/** Stands for a replica that has not caught up: it has the tables, and none of the rows. */
let replica: TestDatabase;
let stack: Stack;

beforeAll(async () => {
  replica = await createPresetDatabase();
  stack = await startStack({ preset: { readDatabaseUrl: replica.url } });
});

afterAll(async () => {
  await stack.close();
  await replica.drop();
});

describe("a read replica", () => {
  it("serves lists, while a preset itself is read where it is written", async () => {
    const headers = { authorization: `Bearer ${stack.apiKey}` };
    expect((await stack.create("replicated")).status).toBe(200);
    const get = async (path: string) => {
      const response = await fetch(`${stack.baseUrl}/api/v1${path}`, { headers });
      return { status: response.status, body: await response.json() };
    };
    expect(await get("/presets/replicated")).toMatchObject({ status: 200, body: { data: { slug: "replicated" } } });
    expect(await get("/presets/replicated/versions/1")).toMatchObject({ status: 200, body: { data: { version: 1 } } });
    expect(await get("/presets")).toEqual({ status: 200, body: { data: [], total_count: 0 } });
    expect(await get("/presets/replicated/versions")).toMatchObject({ status: 404 });
  });
});
