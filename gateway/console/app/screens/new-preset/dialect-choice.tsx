import type { Dialect } from "../../api/types.ts";

const dialects: readonly (readonly [Dialect, label: string, meaning: string])[] = [
  ["chat/completions", "Chat completions", "OpenAI and most other providers."],
  ["messages", "Messages", "Anthropic."],
  ["responses", "Responses", "OpenAI’s newer API."],
];

interface DialectChoiceProps {
  readonly chosen: Dialect;
  readonly change: (dialect: Dialect) => void;
}

/** Chooses the dialect whose fields the config has. */
export function DialectChoice({ chosen, change }: DialectChoiceProps) {
  return (
    <fieldset class="stack-tight">
      <legend class="label">Dialect</legend>
      {dialects.map(([dialect, label, meaning]) => (
        <label key={dialect} class="choice">
          <input type="radio" name="dialect" checked={chosen === dialect} onChange={() => change(dialect)} />
          <span>
            {label} <span class="choice-meaning">{meaning}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
