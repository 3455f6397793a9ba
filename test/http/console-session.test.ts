import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createConsoleTicket } from "../../services/organization/commands/create-console-ticket.ts";
import { hashKey } from "../../services/organization/domain/keys.ts";
import { keyFromBytes, secretFromBytes } from "../../services/platform/auth/key-format.ts";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { administrator } from "../support/administration-rest.ts";
import { Browser } from "../support/console.ts";
import type { PresetJson } from "../support/rest.ts";
import { openSecondGateway } from "../support/second-processes.ts";
import { type Stack, startStack } from "../support/stack.ts";

const ttlSeconds = 8;
/** The lifetime of a token, plus what a busy machine adds. */
const noticedWithin = { timeout: ttlSeconds * 1_000 + 30_000, interval: 100 };

let stack: Stack;
const others = new Lifecycle(silentLogger());

beforeAll(async () => {
  stack = await startStack({ organization: { accessTokenTtlSeconds: ttlSeconds } });
  await stack.create("support-bot");
});

afterAll(async () => {
  await others.close();
  await stack.close();
});

async function signedIn(key = stack.apiKey, baseUrl = stack.baseUrl): Promise<Browser> {
  const browser = new Browser(baseUrl);
  const { status, text } = await browser.signIn({ key });
  expect(status, text).toBe(201);
  return browser;
}

async function newTicket(): Promise<string> {
  const hash = hashKey(stack.managementKey).toString("hex");
  return (await createConsoleTicket.read(["--key", hash])(stack.organizationPool)).replace("/console/#ticket=", "");
}

const presets = "/api/v1/presets";
const creation = "/api/v1/presets/by-hand/chat/completions";

describe("signing in with a key", () => {
  it("sets an HttpOnly cookie and returns who is signed in", async () => {
    const browser = new Browser(stack.baseUrl);
    const { status, headers, json } = await browser.signIn({ key: stack.apiKey });
    expect(status).toBe(201);
    expect(headers.get("set-cookie")).toMatch(
      /^setpoint-session=sess-sp-v1-[A-Za-z0-9_-]{49}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(headers.get("cache-control")).toBe("no-store");
    const { userId, organizationId, workspaceId } = stack;
    const expected = {
      user_id: userId,
      name: null,
      email: expect.stringMatching(/@example\.com$/),
      organization: { id: organizationId, name: expect.any(String) },
      key: {
        id: expect.any(String),
        name: "First API key",
        label: expect.stringMatching(/^sk-sp-v1-.{3}…/),
        kind: "api",
        permissions: ["presets:read", "presets:write", "inference"],
      },
      workspace_id: workspaceId,
      workspaces: [{ id: workspaceId, slug: expect.any(String), name: "Default" }],
      expires_at: expect.stringMatching(/Z$/),
    };
    expect(json.data).toEqual(expected);
    expect((await browser.session()).json.data).toEqual({ ...expected, expires_at: expect.any(String) });
  });

  it("grants exactly what the key grants on every route", async () => {
    const browser = await signedIn();
    const made = await browser.send<PresetJson>("POST", creation, { body: { model: "m", messages: [] } });
    expect(made.status).toBe(200);
    const renamed = await browser.send("PATCH", `${presets}/by-hand`, { body: { name: "By hand" } });
    expect(renamed.status).toBe(200);
    const listed = await browser.send<PresetJson[]>("GET", presets);
    expect([listed.status, listed.headers.get("cache-control")]).toEqual([200, "private, no-cache"]);
    expect(listed.json.data[0]).toMatchObject({ slug: "by-hand", creator_user_id: stack.userId });
    expect((await browser.send("GET", "/api/v1/keys")).status).toBe(401);
    const reader = await stack.tenants.createKey(stack, { permissions: ["presets:read"] });
    const reading = await signedIn(reader.secret);
    expect((await reading.send("POST", creation, { body: { messages: [] } })).status).toBe(403);
  });

  it("with a management key gives access to the workspace named in the query", async () => {
    const workspaceId = await stack.tenants.createWorkspace(stack);
    const browser = await signedIn(stack.managementKey);
    expect((await browser.send("GET", "/api/v1/keys")).status).toBe(200);
    const { json } = await browser.send<PresetJson[]>("GET", `${presets}?workspace_id=${workspaceId}`);
    expect(json.total_count).toBe(0);
    expect((await browser.session()).json.data).toMatchObject({ workspace_id: null, key: { kind: "management" } });
  });

  it("ignores spaces and line breaks around the key", async () => {
    const browser = await signedIn(` ${stack.apiKey}\n`);
    expect((await browser.send("GET", presets)).status).toBe(200);
  });

  it("returns 401 and sets no cookie for a bad key", async () => {
    const browser = new Browser(stack.baseUrl);
    for (const key of [keyFromBytes(randomBytes(32)), "sk-sp-v1-typo", ""]) {
      const { status, text } = await browser.signIn({ key });
      expect(status).toBe(401);
      if (key) expect(text).not.toContain(key);
    }
    for (const body of [{}, { key: stack.apiKey, ticket: "x" }, { key: 1 }, { key: stack.apiKey, more: 1 }, "[", ""]) {
      expect((await browser.signIn(body as object)).status).toBe(400);
    }
    expect((await browser.signIn({ key: "x".repeat(2_000) })).status).toBe(413);
    expect(browser.cookie).toBeUndefined();
  });

  it("logs neither the key nor the session token", async () => {
    const browser = await signedIn();
    await browser.send("GET", presets);
    await browser.signOut();
    expect(stack.log()).not.toContain(stack.apiKey);
    expect(stack.log()).not.toContain("sess-sp-v1-");
  });
});

describe("a bearer key sent with a cookie", () => {
  it("wins over the cookie, whether it is good or bad", async () => {
    const browser = await signedIn(stack.managementKey);
    const send = (authorization: string) => browser.send("GET", "/api/v1/keys", { headers: { authorization } });
    expect((await send(`Bearer ${stack.apiKey}`)).status).toBe(401);
    expect((await send(`Bearer ${stack.managementKey}`)).status).toBe(200);
    for (const bad of [`Bearer ${keyFromBytes(randomBytes(32))}`, "", "Basic eDp5"]) {
      expect((await send(bad)).status).toBe(401);
    }
    const inference = { headers: { "x-api-key": keyFromBytes(randomBytes(32)) }, body: { messages: [] } };
    expect((await browser.send("POST", "/api/v1/messages", inference)).status).toBe(401);
  });

  it("does not count as a session", async () => {
    const headers = { authorization: `Bearer ${stack.managementKey}` };
    const browser = await signedIn();
    expect((await browser.send("GET", "/api/v1/keys", { headers })).status).toBe(200);
    expect((await browser.session(headers)).status).toBe(200);
    expect((await new Browser(stack.baseUrl).session(headers)).status).toBe(401);
  });

  it.each(["before", "after"])("may not be a session token, %s that token was used in a cookie", async (moment) => {
    const browser = await signedIn();
    if (moment === "after") expect((await browser.send("GET", "/api/v1/models")).status).toBe(200);
    const { cookie = "" } = browser;
    const token = cookie.slice("setpoint-session=".length);
    for (const headers of [{ authorization: `Bearer ${token}` }, { "x-api-key": token }]) {
      const { status, text } = await new Browser(stack.baseUrl).send("GET", "/api/v1/models", { headers });
      expect(status).toBe(401);
      expect(text).not.toContain(token);
    }
  });
});

describe("the cookie is ignored on a request", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await signedIn();
  });

  const port = () => new URL(stack.baseUrl).port;
  const none = undefined;

  it.each<[string, () => Record<string, string | undefined>]>([
    ["from another site", () => ({ "sec-fetch-site": "cross-site", origin: "https://evil.example" })],
    ["from another port on the same host", () => ({ "sec-fetch-site": "same-site", origin: "http://127.0.0.1:3000" })],
    ["from direct navigation", () => ({ "sec-fetch-site": "none" })],
    ["with two Sec-Fetch-Site values", () => ({ "sec-fetch-site": "same-origin, cross-site" })],
    ["from another site in an old browser", () => ({ "sec-fetch-site": none, origin: "https://evil.example" })],
    ["from another port in an old browser", () => ({ "sec-fetch-site": none, origin: "http://127.0.0.1:3000" })],
    ["over HTTPS in an old browser", () => ({ "sec-fetch-site": none, origin: `https://127.0.0.1:${port()}` })],
    ["from a sandboxed page", () => ({ "sec-fetch-site": none, origin: "null" })],
    ["from an unknown page", () => ({ "sec-fetch-site": none })],
    ["over plain HTTP from another machine", () => ({ host: `10.0.0.5:${port()}` })],
    ["through another DNS name", () => ({ host: `rebound.example:${port()}` })],
    ["with a host that is no address", () => ({ host: "[1:" })],
    ["through a proxy that hides the Host", () => ({ origin: "https://public.example" })],
  ])("%s", async (_name, headers) => {
    expect((await browser.session(headers())).status).toBe(401);
    expect((await browser.send("GET", presets, { headers: headers() })).status).toBe(401);
    expect((await browser.signOut(headers())).status).toBe(401);
    const made = await browser.send("POST", creation, { headers: headers(), body: { messages: [] } });
    expect(made.status).toBe(401);
    const fresh = new Browser(stack.baseUrl);
    expect((await fresh.signIn({ key: stack.apiKey }, headers())).status).toBe(403);
    expect(fresh.cookie).toBeUndefined();
    expect((await browser.session()).status).toBe(200);
  });

  it.each<[string, Record<string, string | undefined>]>([
    ["without the console header", { "x-setpoint-console": undefined }],
    ["with another value in the console header", { "x-setpoint-console": "true" }],
    ["with a form content type", { "content-type": "application/x-www-form-urlencoded" }],
    ["with a text/plain content type", { "content-type": "text/plain" }],
    ["with a multipart content type", { "content-type": "multipart/form-data; boundary=x" }],
    ["without a content type", { "content-type": undefined }],
    ["with a content type that only starts like JSON", { "content-type": "application/json-seq" }],
  ])("with an unsafe method %s", async (_name, headers) => {
    const body = { model: "m", messages: [] };
    expect((await browser.send("POST", creation, { headers, body })).status).toBe(401);
    expect((await browser.send("PATCH", `${presets}/support-bot`, { headers, body: { name: "x" } })).status).toBe(401);
    const fresh = new Browser(stack.baseUrl);
    expect((await fresh.signIn({ key: stack.apiKey }, headers)).status).toBe(403);
    expect(fresh.cookie).toBeUndefined();
  });

  it("unless it comes from an old browser with the console's own Origin", async () => {
    const headers = { "sec-fetch-site": undefined, origin: stack.baseUrl };
    expect((await browser.session(headers)).status).toBe(200);
    const onLocalhost = { ...headers, host: `localhost:${port()}`, origin: `http://localhost:${port()}` };
    expect((await browser.session(onLocalhost)).status).toBe(200);
    expect((await browser.session({ ...onLocalhost, origin: stack.baseUrl })).status).toBe(401);
  });
});

describe("a cookie planted by someone else", () => {
  it("next to the real one invalidates both", async () => {
    const browser = await signedIn();
    const { cookie = "" } = browser;
    const planted = (await signedIn((await stack.tenants.createOrganization()).apiKey)).cookie ?? "";
    for (const both of [`${cookie}; ${planted}`, `${planted}; ${cookie}`, `${cookie}; ${cookie}`]) {
      expect((await browser.session({ cookie: both })).status).toBe(401);
    }
    for (const withOthers of [`a=b; ${cookie}`, `${cookie};c=d`, `x${planted}; ${cookie}`]) {
      expect((await browser.session({ cookie: withOthers })).json.data?.user_id).toBe(stack.userId);
    }
  });

  it("before a sign-in is replaced, not adopted", async () => {
    const planted = await signedIn();
    const victim = planted.clone();
    await victim.signIn({ key: (await stack.tenants.createKey(stack, { kind: "management" })).secret });
    expect(victim.cookie).not.toBe(planted.cookie);
    expect((await planted.session()).json.data.key.kind).toBe("api");
    const made = secretFromBytes("session", randomBytes(32));
    const forged = new Browser(stack.baseUrl, `setpoint-session=${made}`);
    expect((await forged.session()).status).toBe(401);
    await forged.signIn({ key: stack.apiKey });
    expect(forged.cookie).not.toContain(made);
    for (const value of ["", "x", `${made}x`, stack.apiKey]) {
      expect((await new Browser(stack.baseUrl, `setpoint-session=${value}`).session()).status).toBe(401);
    }
  });
});

describe.concurrent("a session used on two gateways", () => {
  const becomes401 = (browser: Browser) =>
    vi.waitFor(async () => expect((await browser.send("GET", presets)).status).toBe(401), noticedWithin);

  it("ends on sign-out: at once on that gateway, soon on the other", async () => {
    const browser = await signedIn();
    const stolen = browser.clone();
    const elsewhere = browser.clone(await openSecondGateway(stack, others));
    for (const each of [stolen, elsewhere]) expect((await each.send("GET", presets)).status).toBe(200);
    const { status, text, headers } = await browser.signOut();
    expect([status, text]).toEqual([204, ""]);
    expect(headers.get("set-cookie")).toBe("setpoint-session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    expect((await stolen.send("GET", presets)).status).toBe(401);
    expect((await stolen.session()).status).toBe(401);
    expect((await elsewhere.session()).status).toBe(401);
    await becomes401(elsewhere);
  });

  it("ends when its key is disabled", async () => {
    const { key, secret } = await stack.tenants.createKey(stack);
    const browser = await signedIn(secret);
    const elsewhere = browser.clone(await openSecondGateway(stack, others));
    expect((await elsewhere.send("GET", presets)).status).toBe(200);
    const { status } = await administrator(stack).call("PATCH", `/keys/${key.hash}`, { disabled: true });
    expect(status).toBe(200);
    expect((await browser.session()).status).toBe(401);
    await becomes401(elsewhere);
  });

  it.each([
    ["12 hours after it was last used", "last_used_at", 12],
    ["after 7 days", "created_at", 7 * 24],
  ])("ends %s", async (_name, column, hours) => {
    const browser = await signedIn();
    await stack.organizationPool.execute(
      `UPDATE console_sessions SET ${column} = TIMESTAMPADD(HOUR, ?, ${column}) WHERE token_hash = ?`,
      [-hours, hashKey(browser.cookie?.split("=")[1] ?? "")],
    );
    expect((await browser.session()).status).toBe(401);
    await becomes401(browser);
  });
});

describe("a sign-in link", () => {
  it("works once", async () => {
    const ticket = await newTicket();
    const browser = new Browser(stack.baseUrl);
    const { status, json } = await browser.signIn({ ticket });
    expect([status, json.data.key.kind]).toEqual([201, "management"]);
    expect((await browser.session()).status).toBe(200);
    const second = new Browser(stack.baseUrl);
    const again = await second.signIn({ ticket });
    expect([again.status, second.cookie]).toEqual([401, undefined]);
    expect(again.text).not.toContain(ticket);
  });

  it("expires after five minutes", async () => {
    const ticket = await newTicket();
    await stack.organizationPool.execute("UPDATE console_tickets SET expires_at = ? WHERE ticket_hash = ?", [
      new Date(),
      hashKey(ticket),
    ]);
    const browser = new Browser(stack.baseUrl);
    expect([(await browser.signIn({ ticket })).status, browser.cookie]).toEqual([401, undefined]);
  });
});

describe("a console served over HTTPS", () => {
  const publicOrigin = "https://setpoint.example.com";
  let url: string;
  beforeAll(async () => {
    url = await openSecondGateway(stack, others, { publicOrigin });
  });

  it("sets a Secure cookie with the __Host- prefix", async () => {
    const browser = new Browser(url);
    const { status, headers } = await browser.signIn({ key: stack.apiKey }, { host: "setpoint.example.com" });
    expect(status).toBe(201);
    expect(headers.get("set-cookie")).toMatch(
      /^__Host-setpoint-session=sess-sp-v1-[A-Za-z0-9_-]{49}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect((await browser.session()).status).toBe(200);
    const old = { "sec-fetch-site": undefined, origin: publicOrigin };
    expect((await browser.session(old)).status).toBe(200);
    expect((await browser.session({ ...old, origin: url })).status).toBe(401);
    expect((await browser.session({ ...old, origin: "http://setpoint.example.com" })).status).toBe(401);
  });

  it("ignores the cookie of plain HTTP", async () => {
    const { cookie } = await signedIn();
    expect((await new Browser(url, cookie).session()).status).toBe(401);
  });
});

describe("guessing keys, tickets or tokens", () => {
  it("is rate limited without slowing signed-in users at the same address", async () => {
    // So slow that no token is refilled during the test.
    const url = await openSecondGateway(stack, others, { refusedKeyRateLimit: { perSecond: 0.001, burst: 5 } });
    const browser = await signedIn(stack.apiKey, url);
    expect((await browser.session()).status).toBe(200);
    const guesses: (() => Promise<number>)[] = [
      async () => (await new Browser(url).signIn({ key: keyFromBytes(randomBytes(32)) })).status,
      async () => (await new Browser(url).signIn({ ticket: secretFromBytes("ticket", randomBytes(32)) })).status,
      async () =>
        (await new Browser(url, `setpoint-session=${secretFromBytes("session", randomBytes(32))}`).session()).status,
    ];
    for (const guess of guesses) {
      await expect.poll(guess, { interval: 10 }).toBe(429);
      expect((await browser.session()).status).toBe(200);
    }
    // No guess can be right any more, and a ticket is not used up by it.
    const ticket = await newTicket();
    for (const guess of [{ key: (await stack.tenants.createKey(stack)).secret }, { ticket }]) {
      expect((await new Browser(url).signIn(guess)).status).toBe(429);
    }
    expect((await new Browser(stack.baseUrl).signIn({ ticket })).status).toBe(201);
  });
});
