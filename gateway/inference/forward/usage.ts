/** Token counts, as far as an answer reports them. */
export interface Usage {
  readonly input: number | undefined;
  readonly output: number | undefined;
}

/**
 * Finds the last `usage` in the last bytes of an answer, and takes what that leaves out from the first one at its
 * beginning.
 */
export function usageIn(tail: string, start: string): Usage | undefined {
  const last = lastUsage(tail);
  if (!last || last.input !== undefined) return last;
  return { input: firstUsage(start)?.input, output: last.output };
}

const usageName = '"usage"';
const usageMember = /"usage"\s*:\s*\{/y;

/** Searched from the end, because it is near it. */
function lastUsage(text: string): Usage | undefined {
  let at = text.lastIndexOf(usageName);
  for (; at >= 0; at = at > 0 ? text.lastIndexOf(usageName, at - 1) : -1) {
    usageMember.lastIndex = at;
    if (usageMember.test(text)) return usageAt(text, usageMember.lastIndex - 1);
  }
  return undefined;
}

/** A short stream may be in one piece: then the last usage, which leaves something out, is in it, too. */
function firstUsage(text: string): Usage | undefined {
  const at = text.search(/"usage"\s*:\s*\{/);
  return at < 0 ? undefined : usageAt(text, text.indexOf("{", at));
}

function usageAt(text: string, from: number): Usage | undefined {
  const usage = parsedObject(text, from);
  if (!usage) return undefined;
  return {
    input: count(usage.prompt_tokens) ?? inputOf(usage),
    output: count(usage.completion_tokens ?? usage.output_tokens),
  };
}

/**
 * In messages, tokens read from or written to a cache are counted separately from the rest of the input; elsewhere they
 * are included.
 */
function inputOf(usage: Readonly<Record<string, unknown>>): number | undefined {
  const input = count(usage.input_tokens);
  if (input === undefined) return undefined;
  return input + (count(usage.cache_read_input_tokens) ?? 0) + (count(usage.cache_creation_input_tokens) ?? 0);
}

function parsedObject(text: string, from: number): Readonly<Record<string, unknown>> | undefined {
  let depth = 0;
  for (let index = from; index < text.length; index++) {
    const character = text[index];
    if (character === "{") depth++;
    else if (character === "}" && --depth === 0) {
      try {
        return JSON.parse(text.slice(from, index + 1));
      } catch {
        return undefined;
      }
    }
  }
  return undefined;
}

function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}
