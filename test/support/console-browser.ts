import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { buildScript } from "../../deploy/local/console.ts";
import { runProgram } from "../../deploy/local/program.ts";
import { launchBrowser } from "./browser.ts";
import { type Stack, startStack } from "./stack.ts";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The console of a whole system, in a real browser. */
export interface ConsoleUnderTest<S extends Stack = Stack> {
  readonly stack: S;
  /** A page of a browser in which nobody is signed in yet. */
  newPage(options?: PageOptions): Promise<ConsolePage>;
  close(): Promise<void>;
}

interface PageOptions {
  readonly colorScheme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
  /** A phone: touch instead of a mouse. */
  readonly isTouched?: boolean;
  /** The user's system colours replace those of the page. */
  readonly hasForcedColors?: boolean;
  /** Signs in with this key. */
  readonly key?: string;
}

/** A page, and what went wrong on it. */
export interface ConsolePage {
  readonly page: Page;
  readonly context: BrowserContext;
  open(path: string): Promise<void>;
  /** Another tab of the same browser. */
  newTab(): Promise<ConsolePage>;
  /** Script errors and violations of the content security policy since the page was loaded. */
  faults(): Promise<string[]>;
  /** Layout shifts since the page was loaded. */
  shifts(): Promise<string[]>;
  /** The violations that axe finds, one per line. */
  axeViolations(): Promise<string[]>;
}

/**
 * Chooses from a menu by keyboard. If its list is rendered again as the menu opens, the menu closes: then it is opened
 * again, as anybody would.
 */
export async function chooseFromMenu(page: Page, menu: string, action: string | RegExp): Promise<void> {
  const item = page.getByRole("button", { name: action }).and(page.locator(":visible"));
  for (let tries = 1; ; tries++) {
    await page.getByRole("button", { name: menu, exact: true }).press("Enter");
    try {
      await item.press("Enter", { timeout: 3_000 });
      return;
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}

export function openConsole(browserPath: string): Promise<ConsoleUnderTest> {
  return openConsoleOf(startStack, browserPath);
}

export async function openConsoleOf<S extends Stack>(
  start: () => Promise<S>,
  browserPath: string,
): Promise<ConsoleUnderTest<S>> {
  await runProgram(process.execPath, [buildScript], { env: process.env });
  const stack = await start();
  const browser = await launchBrowser(browserPath);
  return {
    stack,
    newPage: (options) => newPage(browser, stack, options),
    close: async () => {
      await browser.close();
      await stack.close();
    },
  };
}

async function newPage(browser: Browser, stack: Stack, options: PageOptions = {}): Promise<ConsolePage> {
  const {
    colorScheme = "light",
    width = 1280,
    height = 800,
    isTouched = false,
    hasForcedColors = false,
    key,
  } = options;
  const context = await browser.newContext({
    colorScheme,
    viewport: { width, height },
    hasTouch: isTouched,
    isMobile: isTouched,
    forcedColors: hasForcedColors ? "active" : "none",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await context.addInitScript(watchPage);
  const page = await watched(context, stack);
  if (key) {
    await page.open("/");
    await page.page.getByLabel("Key", { exact: true }).fill(key);
    await page.page.keyboard.press("Enter");
    await page.page.getByRole("navigation", { name: "Main" }).waitFor();
  }
  return page;
}

declare global {
  var consoleFaults: string[];
  var consoleShifts: string[];
}

/** Runs in the page before any of its scripts. */
function watchPage(): void {
  const scope = globalThis as unknown as {
    consoleFaults: string[];
    consoleShifts: string[];
    addEventListener(name: string, listener: (event: { violatedDirective: string; blockedURI: string }) => void): void;
    PerformanceObserver: new (
      callback: (list: { getEntries(): { value: number; hadRecentInput: boolean }[] }) => void,
    ) => { observe(options: object): void };
  };
  scope.consoleFaults = [];
  scope.consoleShifts = [];
  scope.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
    scope.consoleFaults.push(`content policy: ${violatedDirective} ${blockedURI}`);
  });
  new scope.PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) {
      if (!hadRecentInput && value > 0) scope.consoleShifts.push(`layout shift: ${value}`);
    }
  }).observe({ type: "layout-shift", buffered: true });
}

async function watched(context: BrowserContext, stack: Stack): Promise<ConsolePage> {
  const page = await context.newPage();
  const errors: string[] = [];
  // If a page asks whether to leave it, the answer is yes.
  page.on("dialog", (dialog) => dialog.accept());
  page.on("pageerror", (error) => errors.push(`script: ${error.stack}`));
  page.on("console", (message) => {
    // A 4xx is a valid response, and is tested where it is expected; the browser logs each as an error.
    const isRefusal = /^Failed to load resource: .* 4\d\d /.test(message.text());
    if (message.type() === "error" && !isRefusal) errors.push(`console: ${message.text()}`);
  });
  return {
    page,
    context,
    open: async (path) => {
      await page.goto(`${stack.baseUrl}/console${path}`);
    },
    newTab: () => watched(context, stack),
    faults: async () => [...errors, ...(await page.evaluate(() => globalThis.consoleFaults))],
    shifts: () => page.evaluate(() => globalThis.consoleShifts),
    axeViolations: async () => {
      await page.evaluate(axeSource);
      return page.evaluate(async () => {
        const { axe } = globalThis as unknown as {
          axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
        };
        const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
        const { violations } = await axe.run({ runOnly: tags });
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
      });
    },
  };
}
