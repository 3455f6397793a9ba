export type Snippet = readonly [label: string, make: (model: string, origin: string) => string];

/**
 * How a program calls a model, such as a preset, at an origin. The key is only a variable name: what is copied never
 * contains a secret.
 */
export const snippets: readonly [Snippet, ...Snippet[]] = [
  [
    "curl",
    (model, origin) => `curl ${origin}/api/v1/chat/completions \\
  -H "Authorization: Bearer $SETPOINT_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{
    "model": "${model}",
    "messages": [{ "role": "user", "content": "Hello" }]
  }'`,
  ],
  [
    "openai",
    (model, origin) => `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "${origin}/api/v1",
  apiKey: process.env.SETPOINT_API_KEY,
});
const answer = await client.chat.completions.create({
  model: "${model}",
  messages: [{ role: "user", content: "Hello" }],
});`,
  ],
  [
    "@openrouter/sdk",
    (model, origin) => `import { OpenRouter } from "@openrouter/sdk";

const client = new OpenRouter({
  serverURL: "${origin}/api/v1",
  apiKey: process.env.SETPOINT_API_KEY,
});
const answer = await client.chat.send({
  chatRequest: {
    model: "${model}",
    messages: [{ role: "user", content: "Hello" }],
  },
});`,
  ],
  [
    "@anthropic-ai/sdk",
    (model, origin) => `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  baseURL: "${origin}/api",
  apiKey: process.env.SETPOINT_API_KEY,
});
const answer = await client.messages.create({
  model: "${model}",
  max_tokens: 1000,
  messages: [{ role: "user", content: "Hello" }],
});`,
  ],
];
