import { useState } from "preact/hooks";
import { CodeSample } from "../../ui/code-sample.tsx";

const makers: readonly (readonly [label: string, make: (model: string) => string])[] = [
  [
    "curl",
    (model) => `curl ${location.origin}/api/v1/chat/completions \\
  -H "Authorization: Bearer $SETPOINT_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] })}'`,
  ],
  [
    "openai",
    (model) => `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "${location.origin}/api/v1",
  apiKey: process.env.SETPOINT_API_KEY,
});
const answer = await client.chat.completions.create({
  model: "${model}",
  messages: [{ role: "user", content: "Hello" }],
});`,
  ],
  [
    "@openrouter/sdk",
    (model) => `import { OpenRouter } from "@openrouter/sdk";

const client = new OpenRouter({
  serverURL: "${location.origin}/api/v1",
  apiKey: process.env.SETPOINT_API_KEY,
});
const answer = await client.chat.send({
  chatRequest: {
    model: "${model}",
    messages: [{ role: "user", content: "Hello" }],
  },
});`,
  ],
];

/** How a program uses the preset. The key is a name only: nothing secret is ever in what is copied here. */
export function Snippets({ slug, version }: { readonly slug: string; readonly version: number | undefined }) {
  const [chosen, setChosen] = useState(0);
  const model = version === undefined ? `@preset/${slug}` : `@preset/${slug}@${version}`;
  const [label = "", make] = makers[chosen] ?? [];
  return (
    <section class="panel" aria-labelledby="use-title">
      <div class="panel-head">
        <h2 id="use-title">Use it</h2>
        <span class="chips">
          {makers.map(([name], index) => (
            <button
              key={name}
              type="button"
              class="chip small-chip"
              aria-pressed={index === chosen}
              onClick={() => setChosen(index)}
            >
              {name}
            </button>
          ))}
        </span>
      </div>
      <div class="panel-body">
        <CodeSample text={make?.(model) ?? ""} what={`the ${label} sample`} />
      </div>
    </section>
  );
}
