import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idToBytes } from "../../services/platform/domain/ids.ts";
import type { RowDataPacket } from "../../services/platform/mysql/pool.ts";
import type { Answer } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

/** A client whose every request becomes a version of one preset. */
function clientFor(slug: string, apiKey = stack.apiKey): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${stack.baseUrl}/api/v1/presets/${slug}`, maxRetries: 0 });
}

/** The client returns the answer as it is, whatever its types say. */
async function presetOf(answer: PromiseLike<unknown>) {
  return ((await answer) as Answer["json"]).data;
}

async function storedVersions(slug: string): Promise<RowDataPacket[]> {
  const [rows] = await stack.presetPool.execute<RowDataPacket[]>(
    `SELECT v.version, v.config, v.system_prompt FROM preset_versions v
      JOIN presets p ON p.workspace_id = v.workspace_id AND p.id = v.preset_id
      WHERE p.workspace_id = ? AND p.slug = ? ORDER BY v.version`,
    [idToBytes(stack.workspaceId), slug],
  );
  return rows.map((row) => ({ ...row, config: JSON.parse(row.config) }));
}

describe("the openai client", () => {
  it("creates a version from each chat completion", async () => {
    const tools = [{ type: "function" as const, function: { name: "look_up", parameters: { type: "object" } } }];
    const preset = await presetOf(
      clientFor("openai-chat").chat.completions.create({
        model: "gpt-4.1",
        temperature: 0.2,
        tools,
        messages: [
          { role: "developer", content: "Be brief." },
          { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] },
        ],
      }),
    );
    expect(preset).toMatchObject({ slug: "openai-chat", status: "active", designated_version: { version: 1 } });
    expect(await storedVersions("openai-chat")).toEqual([
      { version: 1, config: { model: "gpt-4.1", temperature: 0.2, tools }, system_prompt: "Be brief." },
    ]);
  });

  it("creates a version from each response", async () => {
    const preset = await presetOf(
      clientFor("openai-responses").responses.create({
        model: "gpt-4.1",
        instructions: "Be brief.",
        input: "Hello",
        max_output_tokens: 64,
        reasoning: { effort: "low" },
        store: false,
      }),
    );
    expect(preset).toMatchObject({ slug: "openai-responses", designated_version: { version: 1 } });
    expect(await storedVersions("openai-responses")).toEqual([
      {
        version: 1,
        config: { model: "gpt-4.1", max_output_tokens: 64, reasoning: { effort: "low" } },
        system_prompt: "Be brief.",
      },
    ]);
  });

  it("adds versions to one preset from both", async () => {
    const client = clientFor("openai-both");
    await client.chat.completions.create({ model: "a", messages: [{ role: "user", content: "Hello" }] });
    await client.responses.create({ model: "b", input: "Hello" });
    expect(await storedVersions("openai-both")).toEqual([
      { version: 1, config: { model: "a" }, system_prompt: null },
      { version: 2, config: { model: "b" }, system_prompt: null },
    ]);
  });

  it("creates one version for two requests with one idempotency key", async () => {
    const client = clientFor("openai-retry");
    const send = () => presetOf(client.responses.create({ model: "a" }, { headers: { "Idempotency-Key": "once" } }));
    expect(await send()).toEqual(await send());
    expect(await storedVersions("openai-retry")).toHaveLength(1);
  });

  it.each([
    ["a field out of bounds", () => clientFor("openai-bad"), 3, OpenAI.BadRequestError],
    ["a wrong key", () => clientFor("openai-bad", "wrong"), 1, OpenAI.AuthenticationError],
  ] as const)("reports %s with its own error type", async (_name, clientOf, temperature, type) => {
    const messages = [{ role: "user" as const, content: "Hello" }];
    const creation = clientOf().chat.completions.create({ model: "a", temperature, messages });
    const error = await creation.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(type);
    expect((error as InstanceType<typeof OpenAI.APIError>).error).toMatchObject({
      message: expect.stringMatching(/\w/),
    });
  });
});
