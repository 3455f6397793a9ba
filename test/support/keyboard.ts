import type { ConsolePage } from "./console-browser.ts";

type Role = "link" | "button" | "radio" | "textbox" | "combobox";

/** Presses Tab until something has the focus, as somebody without a mouse would. */
export async function tabTo({ page }: ConsolePage, name: string | RegExp, role: Role): Promise<void> {
  const target = page.getByRole(role, { name, exact: typeof name === "string" }).first();
  await target.waitFor();
  // Finding it by name takes three times as long as a key press, so that is repeated only if it was rendered again.
  let found = await target.elementHandle();
  for (let presses = 0; presses < 80; presses++) {
    const isFocused = await found?.evaluate((element) =>
      element.isConnected ? element === element.ownerDocument.activeElement : undefined,
    );
    if (isFocused) return;
    if (isFocused === undefined) found = await target.elementHandle();
    else await page.keyboard.press("Tab");
  }
  throw new Error(`Tab never reached ${name}`);
}

export async function press(on: ConsolePage, name: string | RegExp, role: Role = "button"): Promise<void> {
  await tabTo(on, name, role);
  await on.page.keyboard.press(role === "radio" ? "Space" : "Enter");
}
