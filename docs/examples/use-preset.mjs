// Uses a preset: gets it, merges it into a chat request, and shows that. With OPENAI_BASE_URL and OPENAI_API_KEY in the
// environment it also sends the request. Run it while `npm start` is running:
//   node docs/examples/use-preset.mjs [SLUG] [QUESTION]
import { end, notRunning, readCredentials } from "./local-system.mjs";

const [slug = "my-first-preset", question = "What is a preset?"] = process.argv.slice(2);
const { base_url, api_key } = readCredentials();

/** The preset with the version that it serves now: a rollback or a new version reaches us with the next call. */
async function getPreset() {
  const headers = { authorization: `Bearer ${api_key}` };
  const response = await fetch(`${base_url}/api/v1/presets/${slug}`, { headers }).catch(() => notRunning(base_url));
  const { data, error } = await response.json();
  return data ?? end(`${error.message} (${error.code}). README.md shows under "First calls" how to create a preset.`);
}

const preset = await getPreset();
const { version, config, system_prompt } = preset.designated_version;
// The config is the part of a request body that the preset keeps, so it is spread into one; the rest is the caller's.
const request = {
  ...config,
  messages: [
    ...(system_prompt === null ? [] : [{ role: "system", content: system_prompt }]),
    { role: "user", content: question },
  ],
};
console.log(`${slug}, version ${version}, makes this request:\n${JSON.stringify(request, null, 2)}`);

const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env;
if (OPENAI_BASE_URL && OPENAI_API_KEY) {
  const url = `${OPENAI_BASE_URL.replace(/\/$/, "")}/chat/completions`;
  const headers = { authorization: `Bearer ${OPENAI_API_KEY}`, "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(request) }).catch((error) =>
    end(`${url} cannot be reached: ${error.cause?.message ?? error.message}. Check OPENAI_BASE_URL.`),
  );
  const text = await response.text();
  if (!response.ok) end(`${url} answers ${response.status}: ${text}`);
  console.log(`The answer:\n${JSON.parse(text).choices[0].message.content}`);
} else {
  console.log("To send it, set OPENAI_BASE_URL (such as https://openrouter.ai/api/v1) and OPENAI_API_KEY.");
}
