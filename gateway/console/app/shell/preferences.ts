import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const themeName = "setpoint-theme";
const sampleName = "setpoint-sample";
const shortcutsName = "setpoint-shortcuts";

export const theme = signal<Theme>((localStorage.getItem(themeName) as Theme | null) ?? "system");
/** Single-key shortcuts get in the way of speech input and some keyboards, so they can be switched off. */
export const hasShortcuts = signal(localStorage.getItem(shortcutsName) !== "off");

/** The label of the sample that is shown first: the language that this person uses. */
export const sampleLabel = signal(localStorage.getItem(sampleName) ?? "");

export function keepPreferences(): void {
  effect(() => {
    localStorage.setItem(themeName, theme.value);
    document.documentElement.dataset.theme = theme.value;
  });
  effect(() => localStorage.setItem(sampleName, sampleLabel.value));
  effect(() => localStorage.setItem(shortcutsName, hasShortcuts.value ? "on" : "off"));
}
