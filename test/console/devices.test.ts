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

  it("keeps a menu clear of the edge of the window after the phone was turned", async () => {
    const { page } = await signedIn({ width: 844, height: 390, isTouched: true });
    const button = page.getByRole("button", { name: "Account" });
    await button.tap();
    await page.locator(".menu:popover-open").waitFor();
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 390, height: 844 });
    await button.tap();
    const end = () => page.locator(".menu:popover-open").evaluate((menu) => menu.getBoundingClientRect().right);
    await expect.poll(end).toBeLessThan(390 - 6);
  });

  it("says why a button cannot be used after a tap, in browsers that do not focus tapped buttons", async () => {
    const { page, open } = await signedIn({ width: 390, height: 844, isTouched: true });
    await open("/default/presets/support-bot/try");
    const button = page.getByRole("button", { name: "Show the merged request" });
    await button.waitFor();
    // This is what Safari does.
    await page.evaluate("addEventListener('mousedown', (event) => event.preventDefault(), { capture: true })");
    await button.tap({ force: true });
    await page.waitForTimeout(300);
    expect(await page.getByRole("tooltip").allInnerTexts()).toContain("Write a message first.");
    expect(await page.locator(".reason:popover-open").count()).toBe(1);
  });

  it("keeps the page in place behind a dialog", async () => {
    const { page, open } = await signedIn({ width: 1280, height: 600 });
    await open("/default/presets/support-bot");
    await page.getByText("Serves v3").waitFor();
    const placeAfterScrolling = async () => {
      await page.mouse.move(10, 590);
      await page.mouse.wheel(0, 300);
      await page.waitForTimeout(300);
      return page.evaluate("scrollY");
    };
    await page.getByRole("button", { name: "Settings" }).click();
    expect(await placeAfterScrolling()).toBe(0);
    await page.keyboard.press("Escape");
    expect(await placeAfterScrolling()).toBe(300);
  });

  it("keeps a page that needs no scrollbar as wide as it was behind a dialog", async () => {
    const { page } = await signedIn({ width: 1280, height: 2000 });
    const width = () => page.evaluate("document.body.offsetWidth");
    const before = await width();
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
    expect(await width()).toBe(before);
  });

  it("shows why a form was refused, however low the window is", async () => {
    const { page, open } = await signedIn({ width: 720, height: 450 });
    await open("/default/team");
    await page.getByRole("button", { name: "Create a workspace" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Another");
    await dialog.getByLabel("Slug").fill("default");
    await page.keyboard.press("Enter");
    const refusal = dialog.getByRole("alert");
    await refusal.waitFor();
    const [box, buttons] = [await refusal.boundingBox(), await dialog.locator(".dialog-actions").boundingBox()];
    expect((box?.y ?? 1e6) + (box?.height ?? 0)).toBeLessThanOrEqual(buttons?.y ?? 0);
  });

  it("begins the list of shortcuts with its title, however low the window is", async () => {
    const { page } = await signedIn({ width: 844, height: 390 });
    await page.keyboard.press("?");
    const box = await page.getByRole("heading", { name: "Keyboard shortcuts" }).boundingBox();
    expect(box?.y).toBeGreaterThan(0);
  });

  it("shows a comparison in text of twice the size without scrolling sideways", async () => {
    const { page, open, context } = await signedIn({ width: 1280 });
    const session = await context.newCDPSession(page);
    await session.send("Page.setFontSizes", { fontSizes: { standard: 32, fixed: 26 } });
    await open("/default/presets/support-bot/compare/1...2");
    await page.locator(".diff").first().waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(1280);
  });

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
