import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser } from "../support/browser.ts";
import { type ConsolePage, type ConsoleUnderTest, openConsole } from "../support/console-browser.ts";
import { freshName } from "../support/fresh-name.ts";

const browserPath = await findBrowser();

let underTest: ConsoleUnderTest;

describe.skipIf(!browserPath)("the console under failures", { timeout: 180_000 }, () => {
  beforeAll(async () => {
    underTest = await openConsole(browserPath ?? "");
  }, 180_000);

  afterAll(() => underTest?.close());

  async function createPreset(): Promise<string> {
    const slug = freshName("resilient");
    const messages = [{ role: "system", content: "Be brief." }];
    for (const temperature of [0.2, 0.7])
      expect((await underTest.stack.create(slug, { model: "a", temperature, messages })).status).toBe(200);
    return slug;
  }

  function signedIn(): Promise<ConsolePage> {
    return underTest.newPage({ key: underTest.stack.managementKey });
  }

  it("reports an ended session and loses nothing that was typed", async () => {
    const slug = await createPreset();
    const on = await signedIn();
    const { page, context } = on;
    await on.open(`/default/presets/${slug}/edit?from=2`);
    await page.getByLabel("System prompt").fill("Be very brief.");
    await page.getByRole("button", { name: "Review the changes" }).click();
    await context.clearCookies();
    await page.getByRole("button", { name: "Save new version" }).click();
    await page.getByText("Your session has ended").waitFor();
    expect(await on.axeViolations()).toEqual([]);
    await page.getByLabel("Key", { exact: true }).fill(underTest.stack.managementKey);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Save new version" }).click();
    await page.getByText("Serves v3").waitFor();
    await page.getByText("Be very brief.").first().waitFor();
    // Someone who signs out knows why they are signed out.
    await page.getByRole("button", { name: "Account" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await page.getByText("Your session has ended").count()).toBe(0);
  });

  it("keeps a draft of an ended session only for the user who typed it", async () => {
    const slug = await createPreset();
    const other = await underTest.stack.tenants.createOrganization();
    const on = await signedIn();
    const { page, context } = on;
    const kept = () => page.evaluate("JSON.stringify(sessionStorage)");
    await on.open(`/default/presets/${slug}/edit?from=2`);
    await page.getByLabel("System prompt").fill("Between us.");
    await expect.poll(kept).toContain("Between us.");
    await context.clearCookies();
    await on.open("/default/presets");
    await page.getByLabel("Key", { exact: true }).fill(other.managementKey);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Account" }).waitFor();
    expect(await kept()).not.toContain("Between us.");
  });

  it("starts a review at its top, and can save from anywhere in it", async () => {
    const slug = await createPreset();
    const on = await underTest.newPage({ key: underTest.stack.managementKey, width: 390 });
    const { page } = on;
    await on.open(`/default/presets/${slug}/edit?from=2`);
    await page.getByLabel("System prompt").fill("Be kind.\n".repeat(80));
    await page.getByRole("button", { name: "Review the changes" }).click();
    const save = page.getByRole("button", { name: "Save new version" });
    await save.waitFor();
    await page.locator(".diff").first().waitFor();
    const isInSight = async () => {
      const box = await save.boundingBox();
      return box !== null && box.y > 0 && box.y + box.height <= 800;
    };
    expect(await page.evaluate("scrollY")).toBe(0);
    expect(await isInSight()).toBe(true);
    expect(await page.evaluate("document.activeElement.tagName")).toBe("H1");
    // However long the comparison is.
    await page.evaluate("scrollTo(0, 900)");
    expect(await page.evaluate("scrollY")).toBe(900);
    expect(await isInSight()).toBe(true);
  });

  it("takes a double click for one click, even if another button appears below the pointer", async () => {
    const slug = await createPreset();
    const on = await signedIn();
    const { page } = on;
    const middleOf = async (name: string) => {
      const { x, y, width, height } = (await page.getByRole("button", { name }).boundingBox()) ?? {
        x: 0,
        y: 0,
        width: 0,
        height: 0,
      };
      return { x: x + width / 2, y: y + height / 2 };
    };
    /** Clicks where one button is, and once more when the other one has taken its place. */
    const doubleClick = async (first: string, second: string) => {
      const { x, y } = await middleOf(first);
      await page.mouse.click(x, y);
      await expect.poll(async () => Math.abs((await middleOf(second)).y - y)).toBeLessThan(10);
      expect(Math.abs((await middleOf(second)).x - x)).toBeLessThan(40);
      await page.mouse.down({ clickCount: 2 });
      await page.mouse.up({ clickCount: 2 });
    };
    await on.open(`/default/presets/${slug}`);
    await page.getByRole("button", { name: "Roll back to v1" }).waitFor();
    await doubleClick("Roll back to v1", "Serve v2");
    // With a long prompt, both buttons are at the end of the window.
    await on.open(`/default/presets/${slug}/edit?from=2`);
    await page.getByLabel("System prompt").fill("Be kind.\n".repeat(80));
    await doubleClick("Review the changes", "Save new version");
    await page.getByRole("button", { name: "Save new version" }).press("Enter");
    await page.getByText("Serves v3").waitFor();
    const { json } = await underTest.stack.request<{ revision: number }[]>("GET", `/presets/${slug}/changes`, {
      key: underTest.stack.apiKey,
    });
    // Two versions, one rollback, one more version.
    expect(json.data).toHaveLength(4);
  });

  it("does not claim that nothing was saved if no answer came, and saves once", async () => {
    const { stack, newPage } = underTest;
    const on = await newPage({ key: stack.apiKey });
    const { page } = on;
    const slug = freshName("unanswered");
    await stack.create(slug, { model: "a", messages: [] });
    const loseAnswers = () =>
      page.route(`**/api/v1/presets/${slug}*/chat/completions*`, async (route) => {
        await route.fetch();
        await route.abort();
      });
    const alert = page.getByRole("alert");
    await on.open(`/default/presets/${slug}/edit?from=1`);
    await page.getByLabel("System prompt").fill("Be kind.");
    await page.getByRole("button", { name: "Review the changes" }).click();
    await loseAnswers();
    await page.getByRole("button", { name: "Save new version" }).click();
    await alert.getByText("it may have been saved").waitFor();
    expect(await alert.innerText()).not.toContain("Nothing");
    await page.unroute(`**/api/v1/presets/${slug}*/chat/completions*`);
    await page.getByRole("button", { name: "Save new version" }).click();
    await page.getByText("Saved as v2, which is served now.").waitFor();
    await on.open(`/default/presets/~new?slug=${slug}-2`);
    await page.locator(".cm-content").waitFor();
    await loseAnswers();
    await page.getByRole("button", { name: "Create preset" }).click();
    await alert.getByText("it may have been created").waitFor();
    await page.unroute(`**/api/v1/presets/${slug}*/chat/completions*`);
    await page.getByRole("button", { name: "Create preset" }).click();
    await page.getByText(`${slug}-2 was created, and serves v1.`).waitFor();
    expect(await on.axeViolations()).toEqual([]);
  });

  it("keeps what is written during a slow save, and calls nobody back who has gone elsewhere", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    let proceed = (): void => {};
    const startSaving = async (prompt: string) => {
      const held = new Promise<void>((resolve) => {
        proceed = resolve;
      });
      await page.route(`**/api/v1/presets/${slug}/chat/completions*`, async (route) => {
        await held;
        await route.continue();
      });
      await open(`/default/presets/${slug}/edit`);
      await page.getByLabel("System prompt").fill(prompt);
      await page.getByRole("button", { name: "Review the changes" }).click();
      await page.getByRole("button", { name: "Save new version" }).click();
      await page.getByRole("button", { name: "Saving …" }).waitFor();
    };
    await startSaving("Be kind.");
    await page.getByRole("link", { name: "Activity" }).click();
    await page.getByRole("heading", { name: "Activity" }).waitFor();
    proceed();
    await page.getByText("Saved as v3, which is served now.").waitFor();
    expect(page.url()).toMatch(/\/activity$/);
    await page.unrouteAll();
    await startSaving("Be kinder.");
    await page.getByRole("link", { name: "Back to editing" }).click();
    await page.getByLabel("System prompt").fill("Be the kindest.");
    proceed();
    await page.getByText("Saved as v4, which is served now.").waitFor();
    await page.reload();
    expect(await page.getByLabel("System prompt").inputValue()).toBe("Be the kindest.");
  });

  it("keeps what is written during a slow creation, and calls nobody back who has gone elsewhere", async () => {
    const slug = freshName("slow");
    const { page, open } = await signedIn();
    let proceed = (): void => {};
    const startCreating = async (name: string) => {
      const held = new Promise<void>((resolve) => {
        proceed = resolve;
      });
      await page.route(`**/api/v1/presets/${name}/chat/completions*`, async (route) => {
        await held;
        await route.continue();
      });
      await open(`/default/presets/~new?slug=${name}`);
      await page.locator(".cm-content").waitFor();
      await page.getByRole("button", { name: "Create preset" }).click();
      await page.getByRole("button", { name: "Creating …" }).waitFor();
    };
    await startCreating(slug);
    await page.getByRole("link", { name: "Activity" }).click();
    await page.getByRole("heading", { name: "Activity" }).waitFor();
    proceed();
    await page.getByText(`${slug} was created, and serves v1.`).waitFor();
    expect(page.url()).toMatch(/\/activity$/);
    await page.getByRole("button", { name: "Open it" }).click();
    await page.getByText("Serves v1").waitFor();
    await startCreating(`${slug}-2`);
    await page.getByLabel("System prompt").fill("Be kind.");
    proceed();
    await page.getByText(`${slug}-2 was created, and serves v1.`).waitFor();
    await page.reload();
    expect(await page.getByLabel("System prompt").inputValue()).toBe("Be kind.");
  });

  it("tells whoever has gone elsewhere that nothing was saved, and leads back to the draft", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    const path = `**/api/v1/presets/${slug}*/chat/completions*`;
    const leaveAfter = async (label: string, busyLabel: string) => {
      let fail = (): void => {};
      const held = new Promise<void>((resolve) => {
        fail = resolve;
      });
      await page.route(path, async (route) => {
        await held;
        await route.abort();
      });
      await page.getByRole("button", { name: label }).click();
      await page.getByRole("button", { name: busyLabel }).waitFor();
      await page.getByRole("link", { name: "Activity" }).click();
      await page.getByRole("heading", { name: "Activity" }).waitFor();
      fail();
    };
    await open(`/default/presets/${slug}/edit`);
    await page.getByLabel("System prompt").fill("Be kind.");
    await page.getByRole("button", { name: "Review the changes" }).click();
    await leaveAfter("Save new version", "Saving …");
    await page.getByText(`The new version of ${slug} may not have been saved.`).waitFor();
    await page.getByRole("button", { name: "Back to the draft" }).click();
    await page.getByRole("button", { name: "Save new version" }).waitFor();
    await open(`/default/presets/~new?slug=${slug}-2`);
    await page.locator(".cm-content").waitFor();
    await leaveAfter("Create preset", "Creating …");
    await page.getByText(`${slug}-2 may not have been created.`).waitFor();
    await page.getByRole("button", { name: "Back to the draft" }).click();
    await page.unroute(path);
    await page.getByRole("button", { name: "Create preset" }).click();
    await page.getByText(`${slug}-2 was created, and serves v1.`).waitFor();
  });

  it("does not claim that nothing was changed if something broke on the way back", async () => {
    const { stack, newPage } = underTest;
    const slug = await createPreset();
    const { page, open } = await newPage({ key: stack.apiKey });
    const breakAnswers = (url: string, method: string, status: number) =>
      page.route(url, async (route) => {
        if (route.request().method() !== method) return route.continue();
        await route.fetch();
        await route.fulfill({ status });
      });
    const creations = `**/api/v1/presets/${slug}*/**`;
    await open(`/default/presets/${slug}/edit?from=2`);
    await page.getByLabel("System prompt").fill("Be kind.");
    await page.getByRole("button", { name: "Review the changes" }).click();
    await breakAnswers(creations, "POST", 503);
    await page.getByRole("button", { name: "Save new version" }).click();
    const alert = page.getByRole("alert");
    await alert.getByText("It may not have been saved").waitFor();
    await alert.getByText("It is saved once, however often you try.").waitFor();
    await page.unroute(creations);
    await page.getByRole("button", { name: "Save new version" }).click();
    await page.getByText("Saved as v3, which is served now.").waitFor();
    await breakAnswers(`**/api/v1/presets/${slug}*`, "PATCH", 502);
    await page.getByRole("button", { name: "Roll back to v2" }).click();
    await page.getByRole("heading", { name: "The change may not have been made" }).waitFor();
  });

  it("goes from a page past the end to the last page", async () => {
    await createPreset();
    const on = await signedIn();
    for (const path of ["/default/presets", "/default/keys", "/default/team/default"]) {
      await on.open(`${path}?page=99`);
      await on.page.waitForURL((url) => !url.search.includes("99"));
      await on.page.getByText(/^1–\d+ of \d+/).waitFor();
      await on.page.locator("tbody tr").first().waitFor();
    }
  });

  it("shows the preset even if the version in the URL does not exist", async () => {
    const slug = await createPreset();
    const on = await signedIn();
    const { page } = on;
    await on.open(`/default/presets/${slug}?v=999`);
    await page.getByText("There is no v999").waitFor();
    await page.getByText("Serves v2").waitFor();
    expect(await page.getByRole("button", { name: /999/ }).count()).toBe(0);
    expect(await on.axeViolations()).toEqual([]);
    await page.getByRole("link", { name: "Show v2, which is served" }).click();
    await page.getByText("Be brief.").first().waitFor();
    expect(page.url()).not.toContain("v=");
  });

  it("leads from a missing version to existing ones in edit and try", async () => {
    const slug = await createPreset();
    const on = await signedIn();
    const { page } = on;
    for (const path of ["edit?from=999", "try?v=999"]) {
      await on.open(`/default/presets/${slug}/${path}`);
      const alert = page.getByRole("alert");
      await alert.getByText("There is no v999").waitFor();
      // It would not exist on a second attempt either.
      expect(await alert.getByRole("button", { name: "Try again" }).count()).toBe(0);
      await alert.getByRole("link", { name: "the preset" }).click();
      await page.getByText("Serves v2").waitFor();
    }
    await on.open(`/default/presets/${slug}/compare/1...999`);
    await page.getByText("It has versions 1 to 2. Choose among them above.").waitFor();
  });

  it("keeps the loaded history if more of it cannot be loaded", async () => {
    const slug = freshName("long-lived");
    for (let version = 1; version <= 24; version++)
      await underTest.stack.create(slug, { model: `model-${version}`, messages: [] });
    const on = await signedIn();
    const { page } = on;
    const history = page.getByRole("complementary", { name: "History" });
    await on.open(`/default/presets/${slug}`);
    await expect.poll(() => history.getByRole("listitem").count()).toBe(20);
    await page.route("**/changes?limit=100**", (route) => route.fulfill({ status: 503, body: "" }));
    await history.getByRole("button", { name: "Show more of 24" }).press("Enter");
    const alert = history.getByRole("alert");
    await alert.getByText("More of the history could not be loaded").waitFor();
    expect(await history.getByRole("listitem").count()).toBe(20);
    const [last, told] = [await history.getByRole("listitem").last().boundingBox(), await alert.boundingBox()];
    expect(told?.y).toBeGreaterThan(last?.y ?? Number.POSITIVE_INFINITY);
    await page.unroute("**/changes?limit=100**");
    await alert.getByRole("button", { name: "Try again" }).press("Enter");
    await expect.poll(() => history.getByRole("listitem").count()).toBe(24);
    expect(await alert.count()).toBe(0);
    // A keyboard user continues at the first new entry.
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toMatch(/^v4Compare/);
  });

  it("does not speak of more of the history if only the latest changes are missing", async () => {
    const slug = await createPreset();
    const on = await signedIn();
    await on.open(`/default/presets/${slug}`);
    const history = on.page.getByRole("complementary", { name: "History" });
    await history.getByRole("listitem").first().waitFor();
    await on.page.route("**/changes?**", (route) => route.abort());
    await history.getByText("The latest changes could not be loaded").waitFor();
    expect(await history.getByRole("listitem").count()).toBe(2);
  });

  it.each([429, 503])(
    "shows what the other versions changed if one such request was answered with %i",
    async (status) => {
      const slug = freshName("grown");
      for (const body of [{}, { model: "a" }, { model: "a", seed: 1 }, { model: "a" }])
        expect((await underTest.stack.create(slug, { messages: [], ...body })).status).toBe(200);
      const { page, open } = await signedIn();
      let asked = 0;
      await page.route("**/versions/2/diff/3?**", (route) => {
        asked += 1;
        return route.fulfill({ status, json: {} });
      });
      await open(`/default/presets/${slug}`);
      await expect.poll(() => page.locator(".changed-fields").allInnerTexts()).toEqual(["− seed", "", "+ model"]);
      expect(asked).toBe(1);
    },
  );

  it("shows what a version changed even if a newer one came while that was loaded", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let asked = 0;
    await page.route("**/versions/1/diff/2?**", async (route) => {
      asked += 1;
      if (asked === 1) await held;
      // Longer than after a failure, so that the first attempt would be taken for one by now.
      if (asked === 2) await setTimeout(2_000);
      // The page no longer waits for the first answer.
      await route.continue().catch(() => {});
    });
    await open(`/default/presets/${slug}`);
    await expect.poll(() => asked).toBe(1);
    await underTest.stack.create(slug, { model: "b", temperature: 0.7, messages: [] });
    await expect.poll(() => page.locator(".changed-fields").allInnerTexts()).toEqual(["prompt, model", "temperature"]);
    release();
  });

  it("says that the gateway is silent on a page that is loaded again before a silence is given up", async () => {
    const { page, open } = await signedIn();
    await page.clock.install();
    await page.route("**/api/v1/changes?**", () => {});
    await open("/default/activity");
    await page.locator(".skeleton").first().waitFor();
    for (let seconds = 0; seconds < 40; seconds += 1) await page.clock.runFor(1_000);
    await page.getByText("The gateway cannot be reached").first().waitFor({ timeout: 5_000 });
  });

  it("shows that it is retrying", async () => {
    const on = await signedIn();
    const { page } = on;
    await page.route("**/api/v1/presets?**", (route) => route.abort());
    await on.open("/default/presets");
    await page.getByText("The gateway cannot be reached").waitFor();
    await page.unroute("**/api/v1/presets?**");
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route("**/api/v1/presets?**", async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".skeleton").first().waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    answer();
    await page.getByText(/^1–\d+ of \d+/).waitFor();
  });

  it("shows nothing of another list or version when loading fails", async () => {
    const slug = await createPreset();
    const on = await signedIn();
    const { page } = on;
    await on.open("/default/presets");
    await page.getByRole("link", { name: slug }).waitFor();
    const refuse = "**/api/v1/presets?**status=archived**";
    await page.route(refuse, (route) => route.abort());
    await page.getByRole("link", { name: "Archived" }).click();
    await page.getByText("The presets could not be loaded").waitFor();
    expect(await page.getByRole("link", { name: slug }).count()).toBe(0);
    await page.getByRole("link", { name: "Active", exact: true }).click();
    await page.getByRole("link", { name: slug }).waitFor();
    await on.open(`/default/presets/${slug}/compare/1...1`);
    await page.getByText("No difference").waitFor();
    await page.route("**/versions/2?**", (route) => route.abort());
    await page.getByRole("button", { name: "To v1: choose another version" }).click();
    await page.getByRole("link", { name: /^v2/ }).and(page.locator(":visible")).click();
    await page.getByText("The versions could not be loaded").waitFor();
    expect(await page.getByText("No difference").count()).toBe(0);
  });

  it("keeps a form with input open when a click misses it", async () => {
    const on = await signedIn();
    const { page } = on;
    await on.open("/default/keys");
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Create a key" }).click();
    await dialog.waitFor();
    await page.mouse.click(5, 5);
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("nightly evaluation");
    await page.mouse.click(5, 5);
    await page.waitForTimeout(100);
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("nightly evaluation");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });

  it("removes a passive notice with its screen, but keeps one with Undo", async () => {
    const slug = await createPreset();
    const on = await signedIn();
    const { page } = on;
    await on.open(`/default/presets/${slug}`);
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Renamed");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The settings were saved.").waitFor();
    await page.getByRole("link", { name: "v1", exact: true }).click();
    await page.getByRole("button", { name: "Roll back to v1" }).click();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    expect(await page.getByText("The settings were saved.").count()).toBe(1);
    await page.getByRole("link", { name: "Activity" }).click();
    await page.getByRole("heading", { name: "Activity" }).waitFor();
    await page.getByText("The settings were saved.").waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(1);
  });

  it("never says that a preset serves while it refuses every request", async () => {
    const slug = await createPreset();
    const on = await signedIn();
    const { page } = on;
    for (const [status, word] of [
      ["disabled", "Disabled"],
      ["archived", "Archived"],
    ]) {
      const { apiKey } = underTest.stack;
      await underTest.stack.request("PATCH", `/presets/${slug}`, { key: apiKey, body: { status } });
      await on.open(`/default/presets/${slug}`);
      await page.getByText(`${word}: requests that name it are refused. It would serve v2`).waitFor();
      expect(await page.getByText(/Serves v|^Serving$/).count()).toBe(0);
      expect(await on.axeViolations()).toEqual([]);
    }
  });

  it("shows all presets for an unknown status in the URL", async () => {
    await createPreset();
    const on = await signedIn();
    await on.open("/default/presets?status=lost");
    await on.page.getByText(/^1–\d+ of \d+/).waitFor();
    expect(await on.page.getByRole("alert").count()).toBe(0);
  });

  it("keeps the test message for the next edit", async () => {
    const slug = await createPreset();
    const on = await signedIn();
    const { page } = on;
    await on.open(`/default/presets/${slug}/try`);
    await page.getByLabel("Message").fill("Where is my order?");
    await on.open(`/default/presets/${slug}`);
    await page.getByRole("link", { name: "Try it" }).click();
    expect(await page.getByLabel("Message").inputValue()).toBe("Where is my order?");
  });

  it.each(["js", "css"])(
    "opens even if its first %s was requested from a gateway of another release",
    async (ending) => {
      const { page } = await signedIn();
      let missing = 2;
      await page.route(`**/console/assets/index-*.${ending}`, (route) => {
        missing -= 1;
        return missing < 0 ? route.continue() : route.fulfill({ status: 404, json: {} });
      });
      await page.reload();
      await expect.poll(() => missing).toBeLessThan(0);
      await page.getByRole("heading", { name: "Presets", level: 1 }).waitFor();
      // It is tried this often each time, and not more.
      await page.unrouteAll();
      let asked = 0;
      await page.route(`**/console/assets/index-*.${ending}`, (route) => {
        asked += 1;
        return route.fulfill({ status: 404, json: {} });
      });
      await page.reload();
      await expect.poll(() => asked).toBe(6);
      await page.getByText("The console could not be loaded").waitFor();
    },
  );

  it("continues by itself once the gateway is reachable again", async () => {
    const slug = await createPreset();
    const on = await signedIn();
    const { page, context } = on;
    await page.getByRole("link", { name: slug }).waitFor();
    await context.setOffline(true);
    await page.getByRole("link", { name: slug }).click();
    await page.getByText("The gateway cannot be reached").first().waitFor();
    await context.setOffline(false);
    await page.getByText("Serves v2").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    // Also at the very beginning.
    await page.route("**/console/session", (route) => route.abort());
    await on.open("/default/presets");
    await page.getByText("The console could not be opened").waitFor();
    await page.unroute("**/console/session");
    await page.getByRole("link", { name: slug }).waitFor();
  });
});
