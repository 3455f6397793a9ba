import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser } from "../support/browser.ts";
import { type ConsolePage, type ConsoleUnderTest, openConsole } from "../support/console-browser.ts";

const browserPath = await findBrowser();
const longName = "Replies to complaints about late deliveries, including refunds and vouchers";

let underTest: ConsoleUnderTest;

describe.skipIf(!browserPath)("the console on a phone, on paper and in large text", { timeout: 180_000 }, () => {
  beforeAll(async () => {
    underTest = await openConsole(browserPath ?? "");
    const { stack } = underTest;
    const tools = Array.from({ length: 9 }, (_, index) => ({ type: "function", function: { name: `find_${index}` } }));
    for (const end of ["Be brief.", "Be kind.", "Be both."]) {
      const content = `${Array.from({ length: 30 }, (_, line) => `Line ${line}`).join("\n")}\n${end}`;
      await stack.create("support-bot", { model: "a", tools, messages: [{ role: "system", content }] });
    }
    await stack.request("PATCH", "/presets/support-bot", { key: stack.apiKey, body: { name: longName } });
  }, 180_000);

  afterAll(() => underTest?.close());

  const signedIn = (look: object): Promise<ConsolePage> =>
    underTest.newPage({ key: underTest.stack.managementKey, ...look });

  it("prints in full what is folded or cut off on the screen, and no controls", async () => {
    const { page, open } = await signedIn({ width: 720 });
    const isSeen = (text: string) => page.getByText(text).first().isVisible();
    await open("/default/presets");
    const name = page.getByRole("link", { name: longName });
    await name.waitFor();
    const isCut = () => name.evaluate((link) => link.scrollWidth > link.clientWidth);
    expect(await isCut()).toBe(true);
    await page.emulateMedia({ media: "print" });
    expect(await isCut()).toBe(false);
    expect(await page.locator("input:visible, select:visible").count()).toBe(0);

    await open("/default/presets/support-bot");
    await page.getByText("Serves v3").waitFor();
    expect(await isSeen('"find_8"')).toBe(true);

    await open("/default/presets/support-bot/compare/1...2");
    await page.locator(".diff").first().waitFor();
    expect(await isSeen("27 unchanged lines")).toBe(true);
    expect(await page.locator(".compared-version > .row").allInnerTexts()).toEqual(["From\nv1", "To\nv2"]);
    expect(await page.locator("input:visible, select:visible").count()).toBe(0);

    await open("/default/activity");
    await page.locator(".activity-table .two-lines").first().waitFor();
    expect(await page.locator("input:visible, select:visible").count()).toBe(0);
  });
});
