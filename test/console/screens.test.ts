import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator } from "../support/administration-rest.ts";
import { findBrowser } from "../support/browser.ts";
import { type ConsolePage, type ConsoleUnderTest, openConsole } from "../support/console-browser.ts";

const browserPath = await findBrowser();
const timeoutMs = 180_000;

const looks = [
  { title: "light", colorScheme: "light", width: 1280 },
  { title: "dark", colorScheme: "dark", width: 1280 },
  { title: "320 px wide", colorScheme: "dark", width: 320 },
] as const;

const longSlug = `long-${"l".repeat(59)}`;

/** Each screen, and what it shows once it is complete. */
const screens: Readonly<Record<string, readonly [path: string, complete: string]>> = {
  presets: ["/default/presets", "text=Another preset"],
  "presets, none found": ["/default/presets?q=nothing-like-it", "text=No preset matches"],
  preset: ["/default/presets/support-bot", "text=Serves v1"],
  "a preset with very long words": [`/default/presets/${longSlug}`, "text=Serves v1"],
  "a version as JSON": ["/default/presets/support-bot?v=2&view=json", "text=You are looking at v2 >> visible=true"],
  "a missing preset": ["/default/presets/nothing", "role=alert"],
  compare: ["/default/presets/support-bot/compare/1...2", ".diff"],
  "compare, with unchanged lines": ["/default/presets/support-bot/compare/1...2?all=1", ".diff"],
  edit: ["/default/presets/support-bot/edit?from=2", ".cm-content"],
  try: ["/default/presets/support-bot/try", "text=chat/completions"],
  "new preset": ["/default/presets/~new", ".cm-content"],
  keys: ["/default/keys", ".keys-table .two-lines"],
  team: ["/default/team", "#workspaces-title"],
  "members of a workspace": ["/default/team/default", "table .two-lines"],
  activity: ["/default/activity", ".activity-table .two-lines"],
  "activity of the organization": ["/default/activity?log=organization", ".activity-table .two-lines"],
  "an unknown screen": ["/default/nothing", "text=There is nothing at this address"],
};

let underTest: ConsoleUnderTest;

describe.skipIf(!browserPath)("every console screen", () => {
  beforeAll(async () => {
    underTest = await openConsole(browserPath ?? "");
    const { stack } = underTest;
    const prompts = ["Be brief.\nNever promise refunds.", "Be brief and kind.\nNever promise refunds.\nSay why."];
    for (const content of prompts) {
      const tools = Array.from({ length: 9 }, (_, index) => ({
        type: "function",
        function: { name: `find_${index}`, parameters: { type: "object" } },
      }));
      await stack.create("support-bot", {
        model: "a",
        temperature: 1.0,
        tools,
        messages: [{ role: "system", content }],
      });
    }
    await stack.request("PATCH", "/presets/support-bot", { key: stack.apiKey, body: { designated_version: 1 } });
    await stack.create("another", { model: "a", messages: [] });
    const name = `Another preset ${"with a name that is long ".repeat(8)}`;
    await stack.request("PATCH", "/presets/another", {
      key: stack.apiKey,
      body: { name, status: "disabled", description: "long words ".repeat(90) },
    });
    const endless = "w".repeat(200);
    await stack.create(longSlug, { model: `m/${endless}`, messages: [{ role: "system", content: endless }] });
    await stack.request("PATCH", `/presets/${longSlug}`, {
      key: stack.apiKey,
      body: { name: endless, description: endless },
    });
    const { makeKey, makeMember, makeWorkspace } = administrator(stack);
    await makeKey({ name: endless });
    await makeMember(`${"m".repeat(60)}@${"m".repeat(60)}.example.com`);
    await makeWorkspace("w".repeat(50));
  }, timeoutMs);

  afterAll(() => underTest?.close());

  async function expectGood(on: ConsolePage, width: number): Promise<void> {
    expect(await on.axeViolations()).toEqual([]);
    expect(await on.faults()).toEqual([]);
    expect(await on.shifts()).toEqual([]);
    expect(await on.page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
  }

  for (const { title, ...look } of looks) {
    it(`passes axe, does not shift and logs no errors: ${title}`, { timeout: timeoutMs }, async () => {
      const signedOut = await underTest.newPage(look);
      await signedOut.open("/");
      await signedOut.page.getByLabel("Key", { exact: true }).waitFor();
      await expectGood(signedOut, look.width);

      const on = await underTest.newPage({ ...look, key: underTest.stack.managementKey });
      for (const [screen, [path, complete]] of Object.entries(screens)) {
        await on.open(path);
        if (!(screen === "a version as JSON" && look.width === 320)) await on.page.locator(complete).first().waitFor();
        await on.page.waitForLoadState("networkidle");
        await expectGood(on, look.width).catch((error: Error) => {
          throw new Error(`${screen}: ${error.message}`);
        });
      }
    });
  }

  it("passes axe with its dialogs and menus open", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    const open = async (path: string, button: string | RegExp) => {
      await on.open(path);
      await page.getByRole("button", { name: button }).first().click();
      expect(await on.axeViolations()).toEqual([]);
      await page.keyboard.press("Escape");
    };
    await open("/default/presets", "Search and commands");
    await open("/default/presets", "Account");
    await open("/default/presets", /Workspace/);
    await open("/default/presets/support-bot", "Settings");
    await on.open("/default/presets/support-bot");
    await page.locator("summary").first().click();
    expect(await on.axeViolations()).toEqual([]);
    await open("/default/keys", "Create a key");
    await open("/default/keys", /Actions for/);
    await open("/default/team", "Add a member");
    await open("/default/team", "Create a workspace");
    expect(await on.faults()).toEqual([]);
  });

  it("has an icon allowed by its content security policy", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage();
    await on.open("/");
    const size = on.page.evaluate(`new Promise((resolve, reject) => {
      const icon = new Image();
      icon.onload = () => resolve(icon.width);
      icon.onerror = reject;
      icon.src = document.querySelector("link[rel=icon]").href;
    })`);
    expect(await size).toBeGreaterThan(0);
    expect(await on.faults()).toEqual([]);
  });

  it("tells an API key what it cannot access", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.apiKey });
    for (const path of ["/default/keys", "/default/team"]) {
      await on.open(path);
      await on.page.getByText("This needs a management key").waitFor();
      expect(await on.axeViolations()).toEqual([]);
    }
    expect(await on.faults()).toEqual([]);
  });
});
