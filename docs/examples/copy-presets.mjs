// Copies presets with all their versions from another server with this API: from OpenRouter, or from another Setpoint, as
// from staging to production. What is there already is not copied again, so it can be repeated at any time.
// FROM_URL=https://openrouter.ai/api/v1 FROM_KEY=… node docs/examples/copy-presets.mjs [SLUG …]
// They are copied to TO_URL with TO_KEY; without these, to the system that `npm start` runs.
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { end, readCredentials } from "./local-system.mjs";

const attemptsMax = 6;
const transient = [429, 502, 503, 504];
const howToAddress = "FROM_URL and TO_URL must end with /api/v1.";

/** One side: an address that ends with `/api/v1`, and a key for one workspace there. */
class Server {
  constructor(url, key) {
    this.url = url.replace(/\/+$/, "");
    this.key = key;
  }

  /** Undefined for a preset that is not there. */
  async request(method, path, { body, headers } = {}) {
    // Such a slug would lead elsewhere, such as from a creation to inference.
    if (/\/\.\.?(\/|$)/.test(path)) throw new Error("a preset cannot have this slug");
    const response = await this.send(method, path, {
      method,
      headers: { authorization: `Bearer ${this.key}`, "content-type": "application/json", ...headers },
      body: body && JSON.stringify(body),
    });
    const answer = await response.json().catch(() => undefined);
    if (response.ok && answer?.data) return { ...answer, etag: response.headers.get("etag") };
    if (response.status === 404 && method === "GET") return undefined;
    const elsewhere = response.headers.get("location");
    const reason =
      answer?.error?.message ??
      (elsewhere ? `it is at ${elsewhere}` : `that is no answer of this API. ${howToAddress}`);
    throw new Error(`${method} ${this.url}${path} was answered with ${response.status}: ${reason}`);
  }

  async send(method, path, options) {
    for (let attempt = 1; ; attempt += 1) {
      // A redirect is not followed: the key would not go along, and what is posted would become a GET.
      const response = await fetch(this.url + path, { ...options, redirect: "manual" }).catch(({ cause, message }) =>
        end(`${method} ${this.url}${path} failed: ${cause?.message || cause?.code || message}. Try again to go on.`),
      );
      if (!transient.includes(response.status) || attempt === attemptsMax) return response;
      await sleep(1000 * Math.min(Number(response.headers.get("retry-after")) || 2 ** attempt, 60));
    }
  }

  async list(path) {
    const items = new Map();
    for (let offset = 0; ; ) {
      const page = await this.request("GET", `${path}?offset=${offset}&limit=20`);
      if (!page) throw new Error(`${this.url}${path} is not there. ${howToAddress}`);
      offset += page.data.length;
      const countBefore = items.size;
      // One that has moved to another page meanwhile comes twice.
      for (const item of page.data) items.set(item.version ?? item.slug, item);
      if (items.size === countBefore || offset >= page.total_count) return [...items.values()];
    }
  }

  async versionsOf(slug) {
    const versions = await this.list(`${pathOf(slug)}/versions`);
    return versions.sort((one, other) => one.version - other.version);
  }
}

function pathOf(slug) {
  return `/presets/${encodeURIComponent(slug)}`;
}

/** In which kind of request such a config occurs. */
function dialectOf({ dialect, config }) {
  if (dialect) return dialect;
  const hasAny = (...names) => names.some((name) => Object.hasOwn(config ?? {}, name));
  const hasTool = (test) => Array.isArray(config?.tools) && config.tools.some(test);
  if (hasAny("stop_sequences", "thinking", "output_config", "context_management", "speed", "fallbacks"))
    return "messages";
  if (hasTool((tool) => tool.input_schema)) return "messages";
  if (hasAny("max_output_tokens", "max_tool_calls", "text", "truncation", "include")) return "responses";
  if (hasTool((tool) => tool.type === "function" && tool.name)) return "responses";
  return "chat/completions";
}

/** The request that makes such a version. */
function requestOf({ config, system_prompt: prompt }, dialect) {
  if (dialect === "messages") return { ...config, messages: [], ...(prompt && { system: prompt }) };
  if (dialect === "responses") return { ...config, ...(prompt && { instructions: prompt }) };
  return { ...config, messages: prompt ? [{ role: "system", content: prompt }] : [] };
}

/** The names of what one says differently from the other. To leave something out is to say null. */
function differences(one, other) {
  const [fields, otherFields] = [one, other].map(({ config, system_prompt: prompt }) => ({
    ...config,
    prompt: prompt || null,
  }));
  return Object.keys(fields).filter((name) => !isDeepStrictEqual(fields[name] ?? null, otherFields[name] ?? null));
}

/** Returns what to say about it. */
async function copyPreset({ slug, name, description, status, designated_version_id: servedId }) {
  const versions = await from.versionsOf(slug);
  if (versions.length === 0) throw new Error("it has no versions");
  let known = await to.request("GET", pathOf(slug));
  const copies = known ? await to.versionsOf(slug) : [];
  const countBefore = copies.length;
  const other = copies.find((copy, index) => !versions[index] || differences(copy, versions[index]).length > 0);
  if (other) throw new Error(`version ${other.version} of it at ${to.url} is not from here`);

  // While it is archived, it takes no versions, and can only be made active.
  if (known?.data.status === "archived" && (versions.length > countBefore || status === "disabled")) {
    known = await to.request("PATCH", pathOf(slug), { body: { status: "active" } });
  }
  const lost = new Set();
  for (const [index, version] of versions.entries()) {
    if (index === copies.length) {
      const dialect = dialectOf(version);
      // Only if nobody has changed it there meanwhile, or the versions would get numbers that mean others here.
      const condition = known ? known.etag && { "if-match": known.etag } : { "if-none-match": "*" };
      const headers = { "idempotency-key": `copy-${version.id}`, ...condition };
      const parts = { body: requestOf(version, dialect), headers };
      known = await to.request("POST", `${pathOf(slug)}/${dialect}`, parts);
      copies.push(known.data.designated_version);
    }
    for (const field of differences(version, copies[index])) lost.add(field);
  }
  const served = versions.findIndex(({ id }) => id === servedId) + 1 || undefined;
  const is = { ...known.data, designated_version: known.data.designated_version.version };
  const changes = Object.entries({ name, description, status, designated_version: served }).filter(
    ([key, value]) => value !== undefined && value !== is[key],
  );
  if (changes.length > 0) await to.request("PATCH", pathOf(slug), { body: Object.fromEntries(changes) });
  const renumbered = versions.filter(({ version }, index) => version !== index + 1).map(({ version }) => version);
  return { count: versions.length, newCount: versions.length - countBefore, lost: [...lost], renumbered };
}

const { FROM_URL, FROM_KEY, TO_URL, TO_KEY } = process.env;
if (!FROM_URL || !FROM_KEY || !TO_URL !== !TO_KEY) {
  end(`Set FROM_URL and FROM_KEY, and TO_URL and TO_KEY or neither. ${howToAddress}`);
}
for (const [name, value] of Object.entries({ FROM_URL, FROM_KEY, TO_URL, TO_KEY })) {
  if (/[^\x21-\x7e]/.test(value?.trim() ?? "")) end(`${name} must be one line of ASCII without spaces.`);
}
const from = new Server(FROM_URL, FROM_KEY);
const local = TO_URL ? undefined : readCredentials();
const to = local ? new Server(`${local.base_url}/api/v1`, local.api_key) : new Server(TO_URL, TO_KEY);

const slugs = process.argv.slice(2);
const presets = slugs.length === 0 ? await from.list("/presets").catch(({ message }) => end(message)) : [];
if (slugs.length === 0 && presets.length === 0) console.log(`${from.url} has no presets in the workspace of this key.`);
for (const slug of slugs) {
  const found = await from.request("GET", pathOf(slug)).catch(({ message }) => end(message));
  presets.push(found?.data ?? end(`${from.url} has no preset ${slug}.`));
}
for (const preset of presets) {
  try {
    const { count, newCount, lost, renumbered } = await copyPreset(preset);
    console.log(`${preset.slug}: ${count} ${count === 1 ? "version" : "versions"}, ${newCount} of them copied now`);
    if (lost.length > 0) console.log(`  not kept, because a preset has no such field there: ${lost.join(", ")}`);
    if (renumbered.length > 0) console.log(`  with other numbers there, counted from 1: ${renumbered.join(", ")}`);
  } catch ({ message }) {
    console.error(`${preset.slug} was not copied, or not all of it: ${message}`);
    process.exitCode = 1;
  }
}
