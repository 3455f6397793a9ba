import { findOutline, stringValue } from "../../platform/json/json-outline.ts";

/** How much of a config is searched for its model, which nearly all name first. */
export const configStartLength = 8_192;

/** The model that a config names within this beginning of its text, which may be cut off anywhere. */
export function modelOf(configStart: string): string | undefined {
  const outline = findOutline(configStart, Number.POSITIVE_INFINITY);
  if (typeof outline === "string") return undefined;
  // A member that is cut off has no end, so it is not found here.
  const member = outline.members.find(({ start, keyEnd }) => stringValue(configStart.slice(start, keyEnd)) === "model");
  if (!member) return undefined;
  const { model } = JSON.parse(`{${configStart.slice(member.start, member.end)}}`);
  return typeof model === "string" ? model : undefined;
}
