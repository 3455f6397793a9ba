import { sampleLabel } from "../../shell/preferences.ts";
import { CodeSample } from "../../ui/code-sample.tsx";
import { type Snippet, snippets } from "./snippet-texts.ts";

/** The snippet in the language that this person uses. */
export function chosenSnippet(): Snippet {
  return snippets.find(([label]) => label === sampleLabel.value) ?? snippets[0];
}

/** Shows how a program uses the preset. */
export function Snippets({ slug, version }: { readonly slug: string; readonly version: number | undefined }) {
  const model = version === undefined ? `@preset/${slug}` : `@preset/${slug}@${version}`;
  const [label, make] = chosenSnippet();
  return (
    <section class="panel" aria-labelledby="use-title">
      <div class="panel-head">
        <h2 id="use-title">Use it</h2>
        <span class="chips">
          {snippets.map(([name]) => (
            <button
              key={name}
              type="button"
              class="chip small-chip"
              aria-pressed={name === label}
              onClick={() => {
                sampleLabel.value = name;
              }}
            >
              {name}
            </button>
          ))}
        </span>
      </div>
      <div class="panel-body">
        <CodeSample text={make(model, location.origin)} what={`the ${label} sample`} />
      </div>
    </section>
  );
}
