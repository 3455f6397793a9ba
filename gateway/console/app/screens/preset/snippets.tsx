import { useState } from "preact/hooks";
import { CodeSample } from "../../ui/code-sample.tsx";
import { snippets } from "./snippet-texts.ts";

/** How a program uses the preset. */
export function Snippets({ slug, version }: { readonly slug: string; readonly version: number | undefined }) {
  const [chosen, setChosen] = useState(0);
  const model = version === undefined ? `@preset/${slug}` : `@preset/${slug}@${version}`;
  const [label = "", make] = snippets[chosen] ?? [];
  return (
    <section class="panel" aria-labelledby="use-title">
      <div class="panel-head">
        <h2 id="use-title">Use it</h2>
        <span class="chips">
          {snippets.map(([name], index) => (
            <button
              key={name}
              type="button"
              class="chip small-chip"
              aria-pressed={index === chosen}
              onClick={() => setChosen(index)}
            >
              {name}
            </button>
          ))}
        </span>
      </div>
      <div class="panel-body">
        <CodeSample text={make?.(model, location.origin) ?? ""} what={`the ${label} sample`} />
      </div>
    </section>
  );
}
