import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser } from "../support/browser.ts";
import { type ConsolePage, type ConsoleUnderTest, openConsole } from "../support/console-browser.ts";
import { freshName } from "../support/fresh-name.ts";
import { press, tabTo } from "../support/keyboard.ts";
import type { PresetJson } from "../support/rest.ts";

const browserPath = await findBrowser();
const timeoutMs = 180_000;
const path = "/default/presets/~new";

let underTest: ConsoleUnderTest;

describe.skipIf(!browserPath)("a user who creates a preset by keyboard alone", () => {
  beforeAll(async () => {
    underTest = await openConsole(browserPath ?? "");
    // Not the page of an empty workspace.
    await underTest.stack.create("taken", { model: "theirs", messages: [] });
  }, timeoutMs);

  afterAll(() => underTest?.close());

  const stored = async (slug: string) => {
    const { json } = await underTest.stack.request<PresetJson>("GET", `/presets/${slug}`, {
      key: underTest.stack.apiKey,
    });
    return json.data.designated_version;
  };

  async function writeSlug(on: ConsolePage, slug: string): Promise<void> {
    await tabTo(on, "Slug", "textbox");
    await on.page.keyboard.press("Control+a");
    await on.page.keyboard.insertText(slug);
  }

  async function writeConfig({ page }: ConsolePage, config: string): Promise<void> {
    await page.locator(".cm-content").focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(config);
  }

  it("gets to the form from the list, by a shortcut and by Ctrl-K", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    const arrive = () => page.getByRole("heading", { name: "New preset" }).waitFor();
    await press(on, "New preset");
    await arrive();
    expect(page.url()).toMatch(/\/default\/presets\/~new$/);
    expect(await page.title()).toBe("New preset · Setpoint");
    await page.keyboard.press("g");
    await page.getByRole("heading", { name: "Presets" }).waitFor();
    await page.keyboard.press("c");
    await arrive();
    await page.keyboard.press("g");
    await page.getByRole("heading", { name: "Presets" }).waitFor();
    // As fast as anyone types: no letter is lost while the palette opens.
    await page.keyboard.press("Control+k");
    await page.keyboard.type("new pre");
    expect(await page.getByRole("combobox").inputValue()).toBe("new pre");
    await page.getByRole("option", { name: "New preset" }).waitFor();
    await page.keyboard.press("Enter");
    await arrive();
    expect(await on.faults()).toEqual([]);
  });

  it("starts with an example config of the dialect, and keeps what was typed", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    const slug = freshName("greeter");
    await on.open(path);
    await page.locator(".cm-content").waitFor();
    await writeSlug(on, slug);
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown");
    expect(await page.getByRole("radio", { name: /^Messages/ }).isChecked()).toBe(true);
    await expect.poll(() => page.locator(".cm-content").innerText()).toContain('"max_tokens": 1000');
    await tabTo(on, "System prompt", "textbox");
    await page.keyboard.insertText("Greet people.");
    // A draft survives a reload.
    await page.reload();
    await page.getByText("This is your earlier draft").waitFor();
    expect(await page.getByLabel("Slug").inputValue()).toBe(slug);
    await writeConfig(on, '{"model": "m", "max_tokens": 7, "temperature": 1.0, "seed": 3}');
    await press(on, "Create preset");
    await page.getByText(`${slug} was created, and serves v1.`).waitFor();
    await page.getByText("messages presets have no such field: seed").waitFor();
    expect(page.url()).toContain(`/presets/${slug}`);
    const version = await stored(slug);
    expect([version.version, version.dialect, version.system_prompt]).toEqual([1, "messages", "Greet people."]);
    expect(version.config).toEqual({ model: "m", max_tokens: 7, temperature: 1 });
    // The next one starts empty.
    await on.open(path);
    expect(await page.getByLabel("Slug").inputValue()).toBe("");
    expect(await on.faults()).toEqual([]);
  });

  it.each([
    [
      "Chat completions",
      '{"messages": [{"role": "system", "content": "Be\\nbrief."}, {"role": "user", "content": "Hi"}]}',
    ],
    [
      "Messages",
      '{"messages": [{"role": "user", "content": "Hi"}], "system": [{"type": "text", "text": "Be\\nbrief."}]}',
    ],
    ["Responses", '{"input": "Hi", "instructions": "Be\\nbrief."}'],
  ])("takes the system prompt out of a pasted request: %s", { timeout: timeoutMs }, async (dialect, request) => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    const pasted = `{\n\n\n\n\n\n\n\n"model": "m", "max_tokens": 7, "temperature": 1.0, "max_output_tokens": 7, ${request.slice(1)}`;
    const paste = async (slug: string) => {
      await on.open(path);
      await page.locator(".cm-content").waitFor();
      await page.getByRole("radio", { name: new RegExp(`^${dialect}`) }).check();
      await writeSlug(on, slug);
      await writeConfig(on, pasted);
    };
    const create = async (slug: string) => {
      await press(on, "Create preset");
      await page.getByText(`${slug} was created, and serves v1.`).waitFor();
      return stored(slug);
    };
    // What is not in the field above is not kept, as the note says.
    const left = freshName("left");
    await paste(left);
    await page.getByText(/presets have no such field: .*(messages|input)/).waitFor();
    expect((await create(left)).system_prompt).toBe(null);

    const whole = freshName("whole");
    await paste(whole);
    const button = page.getByRole("button", { name: "Use its system prompt" });
    // Once the page has been scrolled to it.
    const room = async () => {
      const [box, bar] = [await button.boundingBox(), await page.locator(".edit-actions").boundingBox()];
      return (bar?.y ?? 0) - (box?.y ?? 1e6) - (box?.height ?? 0);
    };
    await expect.poll(room).toBeGreaterThanOrEqual(0);
    await press(on, "Use its system prompt");
    expect(await page.locator("#prompt:focus").inputValue()).toBe("Be\nbrief.");
    await expect.poll(() => page.locator(".cm-content").innerText()).toContain('"temperature": 1.0');
    expect(await page.locator(".cm-content").innerText()).not.toContain("Hi");
    expect(await page.getByRole("button", { name: /its system prompt/ }).count()).toBe(0);
    expect((await create(whole)).system_prompt).toBe("Be\nbrief.");
    expect(await on.faults()).toEqual([]);
  });

  it("pastes a curl command, of which the body remains, and can undo it", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    const config = page.locator(".cm-content");
    const paste = async (text: string) => {
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
      await config.focus();
      await page.keyboard.press("Control+v");
    };
    await on.open(path);
    await page.getByText("paste it here, as JSON or as a curl command").waitFor();
    const before = await config.innerText();
    await paste(`curl https://a.test/v1/chat/completions \\
  -H "Authorization: Bearer $A_KEY" \\
  -d '{"model": "m", "top_p": 1.0, "messages": [{"role": "system", "content": "It'\\''s brief."}]}'`);
    await page.getByRole("button", { name: "Use its system prompt" }).waitFor();
    expect(await config.innerText()).toMatch(/^\{\n {2}"model": "m",\n {2}"top_p": 1\.0,\n/);
    await page.keyboard.press("Control+z");
    await expect.poll(() => config.innerText()).toBe(before);
    // Before a config, an object can only be meant to replace it.
    await page.keyboard.press("Control+Home");
    await paste('{"model": "other"}');
    await expect.poll(() => config.innerText()).toBe('{"model": "other"}');
    // But within it, it is a value.
    for (let presses = 0; presses < 8; presses++) await page.keyboard.press("ArrowRight");
    await paste("{}");
    await expect.poll(() => config.innerText()).toBe('{"model"{}: "other"}');
    expect(await on.faults()).toEqual([]);
  });

  it("does not mind a space around a pasted slug", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const slug = freshName("spaced");
    await on.open(path);
    await on.page.locator(".cm-content").waitFor();
    await writeSlug(on, ` ${slug} `);
    await press(on, "Create preset");
    await on.page.getByText(`${slug} was created, and serves v1.`).waitFor();
    expect((await stored(slug)).version).toBe(1);
    expect(await on.faults()).toEqual([]);
  });

  it("loses no keystroke on a slow machine", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    const session = await on.context.newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: 6 });
    await on.open("/default/presets");
    await page.getByRole("heading", { name: "Presets" }).waitFor();
    await page.keyboard.press("c");
    await page.locator(".cm-content").focus();
    await page.keyboard.press("Control+a");
    const typed = '{"model": "as fast as anybody types"}';
    await page.keyboard.type(typed);
    await expect.poll(() => page.locator(".cm-content").innerText()).toContain(typed);
    expect(await on.faults()).toEqual([]);
  });

  it("is led to the existing preset if the slug is taken, and loses nothing", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    await on.open(path);
    await page.locator(".cm-content").waitFor();
    await writeSlug(on, "taken");
    await press(on, "Create preset");
    await page.getByText("A preset with this slug already exists").waitFor();
    await expect
      .poll(() => page.getByLabel("Slug").evaluate((input) => input === input.ownerDocument.activeElement))
      .toBe(true);
    expect(await on.axeViolations()).toEqual([]);
    expect((await stored("taken")).config).toEqual({ model: "theirs" });
    await press(on, "look at taken", "link");
    await page.getByText("Serves v1").waitFor();
    expect(page.url()).toMatch(/\/presets\/taken$/);
    // What was typed is kept.
    await page.goBack();
    const free = freshName("free");
    await writeSlug(on, free);
    await press(on, "Create preset");
    await page.getByText(`${free} was created`).waitFor();
    expect((await stored(free)).version).toBe(1);
    expect(await on.faults()).toEqual([]);
  });

  it("can start from the URL of a missing preset", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const slug = freshName("not-yet");
    await on.open(`/default/presets/${slug}`);
    await press(on, "Create it", "link");
    await on.page.getByRole("heading", { name: "New preset" }).waitFor();
    expect(await on.page.getByLabel("Slug").inputValue()).toBe(slug);
    await press(on, "Create preset");
    await on.page.getByText(`${slug} was created`).waitFor();
    expect(await on.faults()).toEqual([]);
  });

  it("can start from a copy of a version, which is stored verbatim", { timeout: timeoutMs }, async () => {
    const { stack } = underTest;
    const on = await underTest.newPage({ key: stack.managementKey });
    const { page } = on;
    const slug = freshName("original");
    for (const system of ["First.", "Second."]) {
      const body = `{"model":"m","max_tokens":7,"temperature":1.0,"system":"${system}","messages":[]}`;
      const headers = { authorization: `Bearer ${stack.apiKey}`, "content-type": "application/json" };
      const url = `${stack.baseUrl}/api/v1/presets/${slug}/messages`;
      expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
    }
    await on.open(`/default/presets/${slug}?v=1`);
    await press(on, "Duplicate");
    await page.getByRole("heading", { name: `New preset from ${slug} v1` }).waitFor();
    await page.locator(".cm-content").waitFor();
    expect(await page.getByLabel("Slug").inputValue()).toBe(`${slug}-copy`);
    expect(await page.getByRole("radio", { name: /^Messages/ }).isChecked()).toBe(true);
    expect(await page.getByLabel("System prompt").inputValue()).toBe("First.");
    await expect.poll(() => page.locator(".cm-content").innerText()).toContain('"temperature": 1.0');
    expect(await on.axeViolations()).toEqual([]);
    // It is a different draft from that of a new preset, and it survives a reload.
    await tabTo(on, "System prompt", "textbox");
    await page.keyboard.insertText("Changed: ");
    await page.reload();
    await page.getByText("This is your earlier draft").waitFor();
    await on.open(path);
    expect(await page.getByLabel("System prompt").inputValue()).toBe("");
    await page.goBack();
    await press(on, "Create preset");
    await page.getByText(`${slug}-copy was created, and serves v1.`).waitFor();
    const copy = await stored(`${slug}-copy`);
    expect([copy.version, copy.dialect, copy.config]).toEqual([
      1,
      "messages",
      { model: "m", max_tokens: 7, temperature: 1 },
    ]);
    expect(copy.system_prompt).toContain("Changed: ");
    expect((await stored(slug)).version).toBe(2);
    expect(await on.faults()).toEqual([]);
  });

  it("can copy a version to another workspace, where it keeps its slug", { timeout: timeoutMs }, async () => {
    const { stack } = underTest;
    const workspaceId = await stack.tenants.createWorkspace(stack);
    const elsewhere = await stack.tenants.createKey(stack, { workspaceId });
    const slug = freshName("promoted");
    const config = { model: "a/b", temperature: 0.5 };
    await stack.create(slug, { ...config, messages: [{ role: "system", content: "Hello" }] });
    const on = await underTest.newPage({ key: stack.managementKey });
    const { page } = on;
    await on.open(`${path}?like=${slug}&v=1`);
    const [workspace, slugField] = [page.getByLabel("Workspace", { exact: true }), page.getByLabel("Slug")];
    await workspace.waitFor();
    expect(await slugField.inputValue()).toBe(`${slug}-copy`);
    const choose = async (name: string) => {
      await tabTo(on, "Workspace", "combobox");
      await page.keyboard.type(name);
    };
    await choose("Another");
    expect(await slugField.inputValue()).toBe(slug);
    // A slug of one's own stays.
    await writeSlug(on, `${slug}-mine`);
    await choose("Default");
    expect(await slugField.inputValue()).toBe(`${slug}-mine`);
    await writeSlug(on, `${slug}-copy`);
    await choose("Another");
    expect(await on.axeViolations()).toEqual([]);
    await page.reload();
    await page.getByText("This is your earlier draft").waitFor();
    expect([await workspace.inputValue(), await slugField.inputValue()]).toEqual([workspaceId, slug]);
    await press(on, "Create preset");
    await page.getByText(`${slug} was created in Another, and serves v1.`).waitFor();
    await page.getByRole("heading", { name: slug }).waitFor();
    expect(page.url()).toMatch(new RegExp(`/another-[0-9a-f]+/presets/${slug}$`));
    const { json } = await stack.request<PresetJson>("GET", `/presets/${slug}`, { key: elsewhere.secret });
    expect(json.data.designated_version).toMatchObject({ version: 1, config, system_prompt: "Hello" });

    // It is there now.
    await on.open(`${path}?like=${slug}&v=1`);
    await choose("Another");
    await press(on, "Create preset");
    const link = page.getByRole("link", { name: `look at ${slug}` });
    expect(await link.getAttribute("href")).toMatch(new RegExp(`/another-[0-9a-f]+/presets/${slug}$`));
    expect(await on.faults()).toEqual([]);
  });

  it("offers no workspace if there is only one to choose, or nothing to copy", { timeout: timeoutMs }, async () => {
    const { stack } = underTest;
    const slug = freshName("lone");
    await stack.create(slug, { model: "a/b", messages: [] });
    for (const [key, query] of [
      [stack.apiKey, `?like=${slug}&v=1`],
      [stack.managementKey, ""],
    ] as const) {
      const on = await underTest.newPage({ key });
      await on.open(`${path}${query}`);
      await on.page.getByLabel("Slug").waitFor();
      expect(await on.page.getByLabel("Workspace", { exact: true }).count()).toBe(0);
    }
  });

  it("is told if there is nothing to copy", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    await on.open(`${path}?like=taken&v=99`);
    await on.page.getByRole("alert").waitFor();
    expect(await on.page.getByLabel("Slug").count()).toBe(0);
    expect(await on.faults()).toEqual([]);
  });

  it("sees errors at their fields", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    await on.open(path);
    await page.locator(".cm-content").waitFor();
    await tabTo(on, "Create preset", "button");
    await page.getByRole("tooltip", { name: "Give it a slug first." }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("tooltip").waitFor({ state: "hidden" });
    await tabTo(on, "Slug", "textbox");
    await page.keyboard.insertText("not a slug");
    await page.getByText("begins with a letter or digit").waitFor();
    expect(await page.getByLabel("Slug").getAttribute("aria-invalid")).toBe("true");
    await writeConfig(on, '{"model": "m", "temperatur": 1}');
    await page.getByRole("status").getByText("no such field: temperatur.").waitFor();
    await writeSlug(on, "wrong");
    await writeConfig(on, '{\n  "model": "m",\n  "temperature": 9,\n  "top_p": 3\n}');
    // The editor has looked at the text for the last time.
    await page.waitForTimeout(500);
    await press(on, "Create preset");
    await page.getByText("Nothing was created").waitFor();
    await expect.poll(() => page.locator(".cm-lintRange-error").count()).toBe(2);
    // Each only once.
    expect(await page.getByRole("alert").locator("p, li").allInnerTexts()).toEqual([
      "temperature must be at most 2",
      "top_p must be at most 1",
    ]);
    await press(on, /temperature must be at most 2/);
    await expect.poll(() => page.locator(".cm-activeLine").innerText()).toContain("temperature");
    // axe reports something half covered by the header as too small.
    await page.evaluate("scrollTo(0, 0)");
    expect(await on.axeViolations()).toEqual([]);
    const { status } = await underTest.stack.request("GET", "/presets/wrong", { key: underTest.stack.apiKey });
    expect(status).toBe(404);
    expect(await on.faults()).toEqual([]);
  });

  it("sees that nothing was created, however far down the button was pressed", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    await on.open(path);
    await page.locator(".cm-content").waitFor();
    await writeSlug(on, "far-down");
    await page.getByLabel("System prompt").fill("A line.\n".repeat(60));
    await page.route("**/api/v1/presets/far-down/**", (route) =>
      route.fulfill({ status: 503, json: { error: { code: 503, message: "Later." } } }),
    );
    await page.mouse.wheel(0, 3_000);
    await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(300);
    await page.getByRole("button", { name: "Create preset" }).click();
    await expect.poll(async () => (await page.getByRole("alert").boundingBox())?.y ?? -1).toBeGreaterThan(0);
  });

  it("sees why a key is not permitted, without a mouse", { timeout: timeoutMs }, async () => {
    const { stack } = underTest;
    const { secret } = await stack.tenants.createKey(stack, { permissions: ["presets:read"] });
    const on = await underTest.newPage({ key: secret });
    const { page } = on;
    const reason = page.getByRole("tooltip", { name: "Your key does not have the permission presets:write." });
    await page.getByRole("link", { name: "taken" }).waitFor();
    await tabTo(on, "New preset", "button");
    await reason.waitFor();
    await page.keyboard.press("Enter");
    expect(page.url()).toMatch(/\/default\/presets$/);
    await on.open("/default/presets/taken");
    for (const name of ["Settings", "Duplicate", "Edit v1"]) {
      await tabTo(on, name, "button");
      await reason.and(page.locator(":visible")).waitFor();
    }
    expect(await on.axeViolations()).toEqual([]);
    expect(await on.faults()).toEqual([]);
  });
});
