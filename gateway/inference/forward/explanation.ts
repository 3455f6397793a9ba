import type { Provenance } from "../merge/provenance.ts";

/** Many clients reject an answer whose headers exceed 16 KiB in total. */
const lengthMax = 8 * 1024;

/** A provenance as one line of ASCII, fit for a header. If it is too long for one, its fields are left out. */
export function explanationOf(provenance: Provenance): string {
  const whole = JSON.stringify(provenance);
  // The length is checked first: escaping only makes it longer, and takes long for a long text.
  const explanation = whole.length <= lengthMax ? inAscii(whole) : whole;
  if (explanation.length <= lengthMax) return explanation;
  return JSON.stringify({ preset: provenance.preset, fields: {}, dropped: [], is_truncated: true });
}

function inAscii(json: string): string {
  return json.replaceAll(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
