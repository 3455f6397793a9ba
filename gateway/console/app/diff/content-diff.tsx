import { useLayoutEffect, useMemo } from "preact/hooks";
import { indented, membersOf } from "../json/json-pieces.ts";
import { NotLoaded } from "../ui/not-loaded.tsx";
import { DiffView } from "./diff-view.tsx";
import type { LineDiff } from "./line-diff.ts";
import { type DiffPair, useDiff } from "./use-diff.ts";

/** What is compared: the text of a config, and a prompt. */
export interface Content {
  readonly config: string;
  readonly prompt: string | null;
}

interface ContentDiffProps {
  readonly from: Content;
  readonly to: Content;
  /** Whether unchanged parts are shown, too. */
  readonly isWhole: boolean;
  /** Called when the differences are on the page, with the number of changes: of runs of adjacent changed lines. */
  readonly shown?: (changeCount: number) => void;
}

interface FieldPair extends DiffPair {
  readonly title: string;
  readonly isSame: boolean;
}

/** The differences between two versions: the prompt line by line, and each field of the config. */
export function ContentDiff({ from, to, isWhole, shown }: ContentDiffProps) {
  const pairs = useMemo(() => pairsOf(from, to, isWhole), [from.config, from.prompt, to.config, to.prompt, isWhole]);
  const diffs = useDiff(pairs);
  useLayoutEffect(() => {
    if (diffs && diffs !== "not loaded") shown?.(diffs.reduce((sum, diff) => sum + changeCountIn(diff), 0));
  }, [diffs]);
  if (pairs.length === 0) {
    return (
      <div class="panel empty">
        <h2>No difference</h2>
        <p>The prompt and every field of the config are the same.</p>
      </div>
    );
  }
  if (diffs === "not loaded") return <NotLoaded key="not-loaded" />;
  // Everything is shown at once, so that nothing moves when the last part arrives.
  if (!diffs) {
    return (
      <div key="wait" class="panel version-skeleton">
        <p class="muted late" role="status">
          Comparing …
        </p>
      </div>
    );
  }
  const compared = pairs.map((pair, index) => ({ ...pair, diff: diffs[index] }));
  const prompt = compared.find(({ title }) => title === promptTitle);
  const fields = compared.filter((each) => each !== prompt);
  const count = fields.filter(({ isSame }) => !isSame).length;
  const differing = count === 1 ? "1 field differs" : `${count} fields differ`;
  return (
    <>
      {prompt && (
        <section key="prompt" class="panel" aria-label={promptTitle}>
          <div class="panel-head">
            <h2>{promptTitle}</h2>
            <span class="row">
              {/* Below a long prompt, nobody would look for the config. */}
              {count > 0 && (prompt.diff?.rows.length ?? 0) > longPromptLines && (
                <a class="button small" href="#config-diff">
                  Config: {differing}
                </a>
              )}
              <span class="badge">{kindOf(prompt)}</span>
            </span>
          </div>
          {prompt.diff && <DiffView diff={prompt.diff} label={promptTitle} isWhole={isWhole} />}
        </section>
      )}
      {fields.length > 0 && (
        <section key="config" class="panel" id="config-diff" aria-label="Config">
          <div class="panel-head">
            <h2>Config</h2>
            <span class="muted small">{differing}</span>
          </div>
          {fields.map((field) => (
            <section key={field.title} class="field-diff" aria-label={field.title}>
              <div class="row">
                <h3 class="wrap">
                  <code>{field.title}</code>
                </h3>
                <span class="badge">{kindOf(field)}</span>
              </div>
              {field.diff && <DiffView diff={field.diff} label={field.title} isWhole={isWhole} />}
            </section>
          ))}
        </section>
      )}
    </>
  );
}

export function isSameContent(from: Content, to: Content): boolean {
  return pairsOf(from, to, false).length === 0;
}

const promptTitle = "System prompt";
const longPromptLines = 10;

function changeCountIn({ rows }: LineDiff): number {
  return rows.filter(({ isChanged }, index) => isChanged && !rows[index - 1]?.isChanged).length;
}

function kindOf({ isSame, from, to }: FieldPair): string {
  if (isSame) return "unchanged";
  if (from === undefined) return "+ added";
  return to === undefined ? "− removed" : "changed";
}

function pairsOf(from: Content, to: Content, isWhole: boolean): FieldPair[] {
  const before = new Map(membersOf(from.config).map(({ key, text }) => [key, text]));
  const after = new Map(membersOf(to.config).map(({ key, text }) => [key, text]));
  const pairs: FieldPair[] = [
    {
      title: promptTitle,
      from: from.prompt ?? undefined,
      to: to.prompt ?? undefined,
      isSame: from.prompt === to.prompt,
    },
  ];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(key), after.get(key)].map((text) =>
      text === undefined ? undefined : indented(text),
    );
    pairs.push({ title: key, from: old, to: now, isSame: old === now });
  }
  return isWhole
    ? pairs.filter((pair) => pair.from !== undefined || pair.to !== undefined)
    : pairs.filter((pair) => !pair.isSame);
}
