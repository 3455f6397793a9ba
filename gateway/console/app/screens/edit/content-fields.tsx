import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Issue } from "../../api/api-error.ts";
import { settingsOf } from "../../api/presets.ts";
import type { Dialect } from "../../api/types.ts";
import { objectFrom } from "../../json/json-pieces.ts";
import { characterCount } from "../../ui/character-count.ts";
import { ConfigEditor } from "./config-editor.tsx";
import { unkeptFieldsNote } from "./dropped-fields.tsx";
import { pastedPrompt } from "./pasted-prompt.ts";

interface ContentFieldsProps {
  readonly dialect: Dialect;
  readonly prompt: string;
  readonly config: string;
  /** What is wrong with the text of the config, if anything. */
  readonly configFault: string | undefined;
  /** What the API says is wrong, by paths in the body that was sent. */
  readonly issues: readonly Issue[];
  /** How to begin. */
  readonly hint?: string;
  readonly change: (change: { readonly prompt?: string; readonly config?: string }) => void;
}

/** The prompt and the config of a version that is being written, each with its errors beside it. */
export function ContentFields(props: ContentFieldsProps) {
  const { dialect, prompt, config, configFault, issues, hint, change } = props;
  const promptIssues = issues.filter(isAboutPrompt);
  const configIssues = useMemo(() => issues.filter((issue) => !isAboutPrompt(issue)), [issues]);
  const unkept = useMemo(() => (configFault ? "" : unkeptFieldsNote(config, dialect)), [config, configFault, dialect]);
  const pasted = useMemo(() => (configFault ? "" : pastedPrompt(config)), [config, configFault]);
  const promptField = useRef<HTMLTextAreaElement>(null);
  const foot = useRef<HTMLDivElement>(null);
  const hasPasted = pasted !== "";
  // A pasted request may fill the window, and what can be done with it is below.
  useEffect(() => {
    if (hasPasted) foot.current?.scrollIntoView({ block: "nearest" });
  }, [hasPasted]);
  // Whoever comes back to errors is taken to the first one, which may be far below a long prompt.
  const [wanted, setWanted] = useState(() => {
    const [first] = promptIssues.length > 0 ? [] : configIssues;
    return first && { path: first.path, round: 0 };
  });
  return (
    <div class="content-fields">
      <div class="panel">
        <div class="panel-head">
          <label class="panel-title" for="prompt">
            System prompt
          </label>
          <span class="muted small">{characterCount(prompt)}</span>
        </div>
        <textarea
          id="prompt"
          ref={promptField}
          class="prompt-field"
          rows={8}
          placeholder="Instructions for the model before every conversation"
          value={prompt.replaceAll("\r\n", "\n")}
          aria-invalid={promptIssues.length > 0 ? "true" : undefined}
          aria-describedby={promptIssues.length > 0 ? "prompt-faults" : undefined}
          onInput={({ currentTarget: { value } }) =>
            // The field itself knows no other line breaks: those of a whole prompt would change with its first letter.
            change({ prompt: prompt.includes("\r\n") ? value.replaceAll("\n", "\r\n") : value })
          }
        />
        {promptIssues.length > 0 && (
          <p id="prompt-faults" class="panel-foot fault">
            {promptIssues.map(({ message }) => message).join("; ")}
          </p>
        )}
      </div>
      <div class="panel">
        <div class="panel-head">
          <h2>Config</h2>
          <span class="muted small">
            Fields of a <code>{dialect}</code> request{hint && `. ${hint}`}
          </span>
        </div>
        <ConfigEditor text={config} issues={configIssues} wanted={wanted} change={(text) => change({ config: text })} />
        <div class="panel-foot edit-faults" role="status" ref={foot}>
          {configFault ? (
            <span class="fault">{configFault}</span>
          ) : (
            configIssues.map(({ path, message }) => (
              <button
                key={`${path} ${message}`}
                type="button"
                class="button small danger"
                onClick={() => setWanted({ path, round: (wanted?.round ?? 0) + 1 })}
              >
                <code>{path}</code> {message}
              </button>
            ))
          )}
          {!configFault && configIssues.length === 0 && (
            <span class={unkept ? "unkept small wrap" : "muted small"}>
              {unkept || "Valid JSON. The rules of each field are checked when you save."}
            </span>
          )}
          {hasPasted && (
            <button
              type="button"
              class="button small"
              onClick={() => {
                change({ prompt: pasted, config: objectFrom(settingsOf(config)) });
                promptField.current?.focus();
              }}
            >
              {prompt === "" ? "Use its system prompt" : "Replace the system prompt with its own"}
            </button>
          )}
        </div>
      </div>
    </div>
  );
}

function isAboutPrompt({ path }: Issue): boolean {
  return /^(messages|system|instructions)\b/.test(path);
}
