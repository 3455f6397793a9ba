import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser } from "../support/browser.ts";
import { type ConsoleUnderTest, openConsole } from "../support/console-browser.ts";

const browserPath = await findBrowser();
const timeoutMs = 180_000;
const dist = join(import.meta.dirname, "../../gateway/console/dist");

let underTest: ConsoleUnderTest;

describe.skipIf(!browserPath)("the console", () => {
  beforeAll(async () => {
    underTest = await openConsole(browserPath ?? "");
  }, timeoutMs);

  afterAll(() => underTest?.close());

  it("shows a working command in an empty workspace, and fills itself", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    await on.page.getByText("No presets yet").waitFor();
    const ways = on.page.getByRole("heading", { level: 3 });
    expect(await ways.allInnerTexts()).toEqual(["Write it here", "Or send a request that you already have"]);
    expect(await on.axeViolations()).toEqual([]);
    await on.page.getByRole("button", { name: "Copy the command" }).click();
    const copied = async () => String(await on.page.evaluate("navigator.clipboard.readText()"));
    await expect.poll(copied).toMatch(/^curl /);
    const command = await copied();
    const [, url] = /^curl (\S+)/.exec(command) ?? [];
    const [, body] = /-d '(.*)'$/.exec(command) ?? [];
    const headers = { authorization: `Bearer ${underTest.stack.apiKey}`, "content-type": "application/json" };
    // The page looks again every 2 s, and does not give up an answer that takes longer.
    await on.page.route("**/api/v1/presets?**", async (route) => {
      await setTimeout(3_000);
      await route.continue().catch(() => {});
    });
    expect((await fetch(url ?? "", { method: "POST", headers, body: body ?? "" })).status).toBe(200);
    await on.page.getByRole("link", { name: "my-first-preset" }).waitFor();
    expect(await on.faults()).toEqual([]);
  });

  it("loads at most 40 kB of script for its first page, none of it inline", () => {
    const page = readFileSync(join(dist, "index.html"), "utf8");
    const scripts = [...page.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+\.js)"/g)].map(([, file]) => file ?? "");
    expect(scripts.length).toBeGreaterThan(0);
    const bytes = scripts.reduce((sum, file) => sum + statSync(join(dist, `${file}.br`)).size, 0);
    expect(bytes).toBeLessThanOrEqual(40_000);
    expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/);
    for (const file of readdirSync(join(dist, "assets"))) {
      if (/\.(js|css)$/.test(file)) expect(readdirSync(join(dist, "assets"))).toContain(`${file}.gz`);
    }
  });

  it("pages through a thousand presets", { timeout: timeoutMs }, async () => {
    const { stack } = underTest;
    for (let from = 0; from < 1_000; from += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => stack.create(`many-${from + index}`)));
    }
    const on = await underTest.newPage({ key: stack.managementKey });
    await on.page.getByText("1–50 of 1,001").waitFor();
    await on.page.getByRole("link", { name: "Next" }).click();
    await on.page.getByText("51–100 of 1,001").waitFor();
    expect(on.page.url()).toContain("page=2");
    // What was not touched for the longest time is at the end.
    await on.page.getByRole("link", { name: "Last" }).click();
    await on.page.getByText("1,001–1,001 of 1,001").waitFor();
    await on.page.getByRole("link", { name: "my-first-preset" }).waitFor();
    expect(await on.page.evaluate("scrollY")).toBe(0);
    expect(await on.page.getByRole("link", { name: "Last" }).count()).toBe(0);
    await on.page.getByLabel("Search presets by name, slug or description").fill("many-99");
    await on.page.getByText("1–11 of 11").waitFor();
    expect(on.page.url()).not.toContain("page=");
    // By a word of its description, in the list and with Ctrl-K.
    const body = { description: "Answers a chargeback." };
    await stack.request("PATCH", "/presets/many-500", { key: stack.apiKey, body });
    await on.page.getByLabel("Search presets by name, slug or description").fill("chargeback");
    await on.page.getByText("1–1 of 1").waitFor();
    await on.page.keyboard.press("Control+k");
    await on.page.keyboard.type("chargeback");
    await on.page.getByRole("option", { name: "many-500" }).waitFor();
    await on.page.keyboard.press("Enter");
    await on.page.waitForURL("**/presets/many-500");
    expect(await on.faults()).toEqual([]);
  });

  it("shows and compares 1 MB prompts without freezing the page", { timeout: timeoutMs }, async () => {
    const { stack } = underTest;
    const lines = (what: string) =>
      Array.from({ length: 27_000 }, (_, line) => `Line ${line} of a long prompt, ${what}.`)
        .join("\n")
        .slice(0, 1_000_000);
    for (const content of [
      lines("as it was"),
      lines("rewritten"),
      lines("as it was").replace("Line 500 ", "Row 500 "),
    ]) {
      const messages = [{ role: "system", content }];
      expect((await stack.create("large", { model: "a", messages })).status).toBe(200);
    }
    const on = await underTest.newPage({ key: stack.managementKey });
    const { page } = on;
    await on.open("/default/presets/large");
    await page.getByRole("button", { name: /Show all/ }).waitFor();
    // Without reloading the page, like a link.
    const goTo = (path: string) =>
      page.evaluate(`history.pushState(null, "", "${path}"); dispatchEvent(new PopStateEvent("popstate"))`);
    // Timer ticks of the page since it was sent there; a frozen page has none.
    const countBeats = () => page.evaluate("globalThis.beats = 0; setInterval(() => beats++, 20)");
    const beats = async () => Number(await page.evaluate("beats"));
    await countBeats();
    await goTo("/console/default/presets/large/compare/1...2");
    await page.getByText("too large and too different").waitFor();
    // It was given up after at least a second; comparing on the page itself would have blocked all ticks.
    expect(await beats()).toBeGreaterThan(10);
    await goTo("/console/default/presets/large/compare/1...3");
    await page.locator("ins mark", { hasText: "Row" }).waitFor();
    expect(await on.faults()).toEqual([]);
  });

  it("shows an error with the request id, and reloads on request", { timeout: timeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    const requestId = "0198c5a4-2c6f-7d19-8e03-b7f15a9c40d2";
    const error = { code: 503, message: "The preset service is out of reach.", metadata: { request_id: requestId } };
    await page.route("**/api/v1/presets?**", (route) =>
      route.fulfill({ status: 503, headers: { "x-request-id": requestId }, json: { error } }),
    );
    await on.open("/default/presets?status=archived");
    await page.getByText("The service is out of reach or overloaded.").waitFor();
    await page.getByText(requestId).waitFor();
    expect(await on.axeViolations()).toEqual([]);
    await page.unroute("**/api/v1/presets?**");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("No preset matches").waitFor();
  });
});
