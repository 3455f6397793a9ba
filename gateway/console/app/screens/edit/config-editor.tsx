import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Issue } from "../../api/api-error.ts";
import type { JsonEditor } from "./json-editor.ts";

interface ConfigEditorProps {
  readonly text: string;
  readonly issues: readonly Issue[];
  /** The path of the issue to go to, and a number that changes with each request. */
  readonly wanted: { readonly path: string; readonly round: number } | undefined;
  readonly change: (text: string) => void;
}

/** The editor is loaded only when it is needed: it is larger than everything else together. */
export function ConfigEditor({ text, issues, wanted, change }: ConfigEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<JsonEditor>();
  const [hasFailed, setFailed] = useState(false);
  const latest = useRef({ text, change });
  latest.current = { text, change };
  useEffect(() => {
    let made: JsonEditor | undefined;
    let isUnmounted = false;
    import("./json-editor.ts").then(
      ({ createJsonEditor }) => {
        if (isUnmounted || !host.current) return;
        const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
        const onChange = (changed: string): void => latest.current.change(changed);
        made = createJsonEditor({ root, text: latest.current.text, label: "Config as JSON", onChange });
        setEditor(made);
      },
      () => setFailed(true),
    );
    return () => {
      isUnmounted = true;
      made?.destroy();
    };
  }, []);
  // Runs before the next keystroke, which an older text would otherwise undo.
  useLayoutEffect(() => editor?.setText(text), [editor, text]);
  useEffect(() => editor?.setIssues(issues), [editor, issues]);
  useEffect(() => {
    if (wanted) editor?.focusOn(wanted.path);
  }, [editor, wanted]);

  if (hasFailed) {
    // A plain text field does the same, less comfortably.
    return (
      <textarea
        class="input mono"
        rows={16}
        aria-label="Config as JSON"
        spellcheck={false}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
    );
  }
  const lines = text.split("\n").length;
  return <div class="config-editor" ref={host} style={{ "--lines": lines }} aria-busy={!editor} />;
}
