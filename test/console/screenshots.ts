import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { findBrowser, launchBrowser } from "../support/browser.ts";
import { startLocalSystem } from "../support/local-system.ts";
import { fillSystem } from "./pictures/fill.ts";
import { smallPng } from "./pictures/small-png.ts";

// `npm run screenshots`: takes the pictures of the console that README shows, of a system of its own.

interface Picture {
  readonly name: string;
  readonly path: string;
  /** What is there once the screen is complete. */
  readonly complete: string;
  readonly height: number;
  readonly colorScheme?: "dark";
  readonly prepare?: (page: Page) => Promise<void>;
}

const pictures: readonly Picture[] = [
  { name: "presets", path: "presets", complete: "text=Support replies", height: 870 },
  { name: "preset", path: "presets/support-reply", complete: "text=Serves v2", height: 730 },
  { name: "compare", path: "presets/support-reply/compare/2...3", complete: ".diff", height: 808, colorScheme: "dark" },
  {
    name: "try",
    path: "presets/support-reply/try",
    complete: "text=chat/completions",
    height: 890,
    prepare: async (page) => {
      await page.getByLabel("Message").fill("Order 4711 has not come yet. Where is it?");
      await page.getByRole("button", { name: "Show the merged request" }).click();
      await page.getByRole("heading", { name: "The merged request" }).waitFor();
      // Neither a focus nor a hand is in the picture.
      await page.mouse.move(0, 0);
      await page.evaluate("document.activeElement.blur()");
    },
  },
];

const folder = join(import.meta.dirname, "../../docs/pictures");

const browserPath = await findBrowser();
if (!browserPath) process.exit(1);
const home = await mkdtemp(join(tmpdir(), "setpoint-screenshots-"));
const system = await startLocalSystem(home);
const browser = await launchBrowser(browserPath);
try {
  await fillSystem(system.credentials);
  for (const picture of pictures) await take(picture);
} finally {
  await browser.close();
  await system.stop();
  await rm(home, { recursive: true, force: true });
}

async function take({ name, path, complete, height, colorScheme, prepare }: Picture): Promise<void> {
  const { base_url, management_key } = system.credentials;
  const page = await browser.newPage({ viewport: { width: 1200, height }, colorScheme: colorScheme ?? "light" });
  await page.goto(`${base_url}/console/default/${path}`);
  await page.getByLabel("Key", { exact: true }).fill(management_key);
  await page.keyboard.press("Enter");
  await page.locator(complete).first().waitFor();
  await page.waitForLoadState("networkidle");
  await prepare?.(page);
  const bytes = smallPng(await page.screenshot({ animations: "disabled", caret: "hide" }));
  await writeFile(join(folder, `${name}.png`), bytes);
  console.log(`${name}.png: ${Math.round(bytes.length / 1000)} kB`);
  await page.close();
}
