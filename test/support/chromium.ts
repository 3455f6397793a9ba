import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import type { Stack } from "./stack.ts";

const root = join(import.meta.dirname, "../..");

/** Where the console is built to; it is built unless what is there is of the same sources. */
export function builtConsole(): string {
  execFileSync(process.execPath, [join(root, "gateway/console/build.ts")], { stdio: "pipe" });
  return join(root, "gateway/console/dist");
}

const executablePath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";

/** Whether there is a browser to test with. Where there is none, that is said, and CI fails. */
export function hasChromium(): boolean {
  if (existsSync(executablePath)) return true;
  const message = `The console was NOT tested: there is no ${executablePath}. Install Chromium, or set CHROMIUM_PATH.`;
  if (process.env.CI) throw new Error(message);
  console.warn(message);
  return false;
}

export function openChromium(): Promise<Browser> {
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}

export interface TabOptions {
  readonly width?: number;
  readonly colorScheme?: "light" | "dark";
  /** Signs in with it. */
  readonly key?: string;
}

/** A tab with the console, and what went wrong in it. */
export interface ConsoleTab {
  readonly page: Page;
  /** The path begins behind `/console/`. */
  go(path: string): Promise<void>;
  /** Errors of scripts, violations of the policy, answers that are a fault, and how far things moved by themselves. */
  troubles(): Promise<readonly string[]>;
  /** What axe finds. */
  violations(): Promise<readonly string[]>;
  /** By how many pixels the page is wider than the window. */
  overflow(): Promise<number>;
  /** Presses Tab until what is called that has the focus. */
  tabTo(name: string | RegExp): Promise<void>;
  close(): Promise<void>;
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const axeOptions = { runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] } };

// What runs in the page is text: the types of a browser are none of this program's.

/** Keeps how far things moved without anybody having done something. */
const watchShifts = `
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value, sources } of list.getEntries()) {
      const moved = sources.map(({ node }) => node?.cloneNode().outerHTML ?? node?.nodeName).join(" ");
      if (!hadRecentInput) shifts.push("layout shift of " + value + ": " + moved);
    }
  }).observe({ type: "layout-shift", buffered: true });
`;

/** What somebody is told who cannot see it, as far as these tests go. */
const nameOfFocused = `
  (document.activeElement.getAttribute("aria-label") ??
    document.activeElement.labels?.[0]?.textContent ??
    document.activeElement.textContent
  ).trim()
`;

export async function openTab(browser: Browser, { baseUrl }: Stack, options: TabOptions = {}): Promise<ConsoleTab> {
  const { width = 1280, colorScheme = "light", key } = options;
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme,
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on("pageerror", (error) => troubles.push(String(error)));
  page.on("console", (message) => {
    // What the API refuses is said so by the browser, too.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      troubles.push(message.text());
  });
  page.on("response", (response) => {
    if (response.status() >= 500) troubles.push(`${response.status()} ${response.url()}`);
  });
  await page.addInitScript(watchShifts);

  const tab: ConsoleTab = {
    page,
    async go(path) {
      await page.goto(`${baseUrl}/console/${path}`);
      await page.locator("main h1").waitFor();
      await page.locator('main [aria-busy="true"]').waitFor({ state: "detached" });
    },
    async troubles() {
      return [...troubles, ...(await page.evaluate<string[]>("shifts"))];
    },
    async violations() {
      await page.evaluate(`${axeSource};undefined`);
      const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(axeOptions)})`);
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    },
    overflow: () => page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
    async tabTo(name) {
      for (let presses = 0; presses < 80; presses++) {
        await page.keyboard.press("Tab");
        const focused = await page.evaluate<string>(nameOfFocused);
        if (typeof name === "string" ? focused === name : name.test(focused)) return;
      }
      throw new Error(`Tab does not lead to ${name}`);
    },
    close: () => context.close(),
  };
  if (key !== undefined) {
    await page.goto(`${baseUrl}/console/`);
    await page.getByLabel("Key", { exact: true }).fill(key);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Presets", exact: true }).waitFor();
  }
  return tab;
}
