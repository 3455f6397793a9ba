import { useState } from "preact/hooks";
import { areNamesLoading } from "../../api/people.ts";
import type { VersionContent } from "../../api/presets.ts";
import type { SessionWorkspace } from "../../api/types.ts";
import { indented } from "../../json/json-pieces.ts";
import { presetHref } from "../../shell/preset-hrefs.ts";
import { characterCount } from "../../ui/character-count.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Person } from "../../ui/person.tsx";
import { Time } from "../../ui/time.tsx";
import { ConfigTable } from "./config-table.tsx";

interface VersionViewProps {
  readonly content: VersionContent;
  readonly query: URLSearchParams;
  readonly workspace: SessionWorkspace;
  readonly slug: string;
}

export function VersionView({ content, query, workspace, slug }: VersionViewProps) {
  const { version, config, prompt, dialect, creatorId, createdAt } = content;
  const isJson = query.get("view") === "json";
  const hrefOf = (view: string | undefined): string =>
    presetHref(workspace, slug, { v: query.get("v") ?? undefined, view });
  return (
    <>
      <section class="panel" aria-labelledby="prompt-title">
        <div class="panel-head">
          <h2 id="prompt-title">System prompt</h2>
          <span class="row">
            {prompt !== null && (
              <>
                <span class="muted small only-wide">{characterCount(prompt)}</span>
                <CopyButton text={prompt} what="the prompt" />
              </>
            )}
          </span>
        </div>
        {prompt === null ? (
          <p class="panel-body muted">This version has no system prompt.</p>
        ) : (
          <LongText key={version} text={prompt} label="Text of the prompt" />
        )}
      </section>
      <section class="panel" aria-labelledby="config-title">
        <div class="panel-head">
          <h2 id="config-title">Config</h2>
          <span class="row">
            <nav class="chips" aria-label="Show the config as">
              <a class="chip small-chip" href={hrefOf(undefined)} aria-current={isJson ? undefined : "true"}>
                Table
              </a>
              <a class="chip small-chip" href={hrefOf("json")} aria-current={isJson ? "true" : undefined}>
                JSON
              </a>
            </nav>
            <CopyButton text={config} what="the config as it is stored" />
          </span>
        </div>
        {isJson ? (
          <LongText key={version} text={indented(config)} label="Config as JSON" />
        ) : (
          <ConfigTable config={config} />
        )}
        <p class="panel-foot muted small">
          {/* The name comes last, because it may arrive late or be truncated. */}
          <span class="version-made">
            <span>
              v{version}
              {dialect && (
                <>
                  , from a <code>{dialect}</code> request
                </>
              )}{" "}
              · made <Time at={createdAt} /> by
            </span>{" "}
            <span class="cut" data-coming={areNamesLoading() ? "" : undefined}>
              <Person id={creatorId} />
            </span>
          </span>
        </p>
      </section>
    </>
  );
}

/** How much text is rendered at first. A megabyte would block the page, and nobody reads that far. */
const shownAtFirst = 100_000;

function LongText({ text, label }: { readonly text: string; readonly label: string }) {
  const [isWhole, setWhole] = useState(text.length <= shownAtFirst);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <section class="text-block" tabIndex={0} aria-label={label}>
        {isWhole ? text : text.slice(0, shownAtFirst)}
      </section>
      {!isWhole && (
        <p class="panel-foot row">
          <span class="muted small">The first {shownAtFirst.toLocaleString("en")} characters.</span>
          <button type="button" class="button small" onClick={() => setWhole(true)}>
            Show all {text.length.toLocaleString("en")}
          </button>
        </p>
      )}
    </>
  );
}
