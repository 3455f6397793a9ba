import { emailLengthMax, nameLengthMax, workspaceSlugRule } from "../../platform/domain/limits.ts";
import type { Rule } from "../../platform/process/flags.ts";
import { isName } from "../domain/field-rules.ts";
import { isKeyName } from "../domain/keys.ts";
import { isEmail } from "../domain/members.ts";
import { isSlug } from "../domain/workspaces.ts";

export const name: Rule<string> = {
  sample: "NAME",
  meaning: `1 to ${nameLengthMax} characters, without control characters such as tabs and line breaks`,
  parse: (text) => (isName(text) ? text : undefined),
};

export const email: Rule<string> = {
  sample: "EMAIL",
  meaning: `an e-mail address of at most ${emailLengthMax} characters`,
  parse: (text) => (isEmail(text) ? text : undefined),
};

export const keyName: Rule<string> = {
  sample: "ID",
  meaning: "the id of a key, or its hash of 64 hexadecimal digits",
  parse: (text) => (isKeyName(text) ? text.toLowerCase() : undefined),
};

export const slug: Rule<string> = {
  sample: "SLUG",
  meaning: workspaceSlugRule,
  parse: (text) => (isSlug(text) ? text : undefined),
};

export const futureTime: Rule<Date> = {
  sample: "TIME",
  meaning: "a future time in ISO 8601 with its zone, such as 2030-01-31T12:00:00Z",
  parse: (text) => {
    const [, day = ""] = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
    const time = isDay(day) ? Date.parse(text) : Number.NaN;
    return time > Date.now() ? new Date(time) : undefined;
  },
};

/** JavaScript turns February 30 into March 2. */
function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

/** Whole numbers from 1 to a million. */
export const count: Rule<number> = {
  sample: "NUMBER",
  meaning: "a whole number from 1 to 1000000",
  parse: (text) =>
    /^\d{1,7}$/.test(text) && Number(text) >= 1 && Number(text) <= 1_000_000 ? Number(text) : undefined,
};
