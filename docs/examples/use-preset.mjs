// Uses a preset with the clients that you already have: each is pointed at the gateway, and names the preset as its model.
// Run it while `npm start` is running:  node docs/examples/use-preset.mjs [SLUG] [QUESTION]
import { end, notRunning, readCredentials } from "./local-system.mjs";

const [slug = "my-first-preset", question = "What is a preset?"] = process.argv.slice(2);
const { base_url, api_key: apiKey } = readCredentials();
// Imported only now: before the first `npm start`, there are no packages.
const { default: OpenAI } = await import("openai");
const { default: Anthropic } = await import("@anthropic-ai/sdk");
const { OpenRouter } = await import("@openrouter/sdk");

const model = `@preset/${slug}`;
const messages = [{ role: "user", content: question }];

const openai = new OpenAI({ baseURL: `${base_url}/api/v1`, apiKey, maxRetries: 0 });
const openRouter = new OpenRouter({ serverURL: `${base_url}/api/v1`, apiKey });
const anthropic = new Anthropic({ baseURL: `${base_url}/api`, apiKey, maxRetries: 0 });

async function askOpenAI() {
  const stream = await openai.chat.completions.create({ model, messages, stream: true });
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  return text;
}

async function askOpenRouter() {
  const { choices } = await openRouter.chat.send({ chatRequest: { model, messages } });
  return choices[0].message.content;
}

async function askAnthropic() {
  const { content } = await anthropic.messages.create({ model, max_tokens: 1000, messages });
  return content.map(({ text }) => text).join("");
}

for (const ask of [askOpenAI, askOpenRouter, askAnthropic]) {
  try {
    console.log(`${ask.name.slice(3)}:\n${await ask()}\n`);
  } catch (error) {
    if (error instanceof OpenAI.APIConnectionError) notRunning(base_url);
    if (error.status !== 404) throw error;
    end(`${error.error?.message ?? error.message} README.md shows under "First calls" how to create a preset.`);
  }
}
