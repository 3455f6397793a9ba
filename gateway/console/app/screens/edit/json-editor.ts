import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import {
  bracketMatching,
  ensureSyntaxTree,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { type Diagnostic, linter, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Issue } from "../../api/api-error.ts";
import { indented } from "../../json/json-pieces.ts";
import { configFaultOf } from "./config-fault.ts";
import { curlBody } from "./curl-body.ts";
import { findPlace } from "./find-place.ts";

export interface JsonEditor {
  setText(text: string): void;
  setIssues(issues: readonly Issue[]): void;
  focusOn(path: string): void;
  destroy(): void;
}

interface JsonEditorParts {
  /** Inside a shadow tree, the editor's styles need no exception from our content security policy. */
  readonly root: ShadowRoot;
  readonly text: string;
  readonly label: string;
  readonly onChange: (text: string) => void;
}

const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
]);

const look = EditorView.theme({
  "&": { fontSize: "var(--size-code)", color: "var(--text)", backgroundColor: "var(--surface)", height: "100%" },
  "&.cm-focused": { outline: "none" },
  // Drawn above the gutter, which would cover an outline.
  "&.cm-focused::after": {
    content: '""',
    position: "absolute",
    inset: "0",
    zIndex: "300",
    border: "2px solid var(--focus)",
    pointerEvents: "none",
  },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.6", overflow: "auto" },
  ".cm-content": { padding: "0.75rem 0", caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--surface-sunken)", color: "var(--text-muted)", borderColor: "var(--line)" },
  ".cm-activeLine": { backgroundColor: "var(--surface-sunken)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-soft) !important" },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "var(--radius)",
  },
  // The library's own images are data: URLs, which our content security policy does not allow.
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)" },
  ".cm-lint-marker-error": {
    content: "normal",
    width: "0.6em",
    height: "0.6em",
    margin: "0.35em 0.2em",
    borderRadius: "50%",
    backgroundColor: "var(--bad)",
  },
  ".cm-diagnostic": { fontFamily: "var(--font-sans)" },
});

/** Ctrl Enter submits the form, as it does in every other field. */
const keys = [...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"), ...historyKeymap, ...lintKeymap];

export function createJsonEditor({ root, text, label, onChange }: JsonEditorParts): JsonEditor {
  let issues: readonly Issue[] = [];
  const parseFaults = jsonParseLinter();
  const findFaults = (view: EditorView): readonly Diagnostic[] => {
    const [fault] = parseFaults(view);
    // Safari does not say where a text stops being JSON; the syntax tree does.
    if (fault) return [fault.from > 0 ? fault : { ...fault, ...firstErrorIn(view.state) }];
    return issues.map(({ path, message }) => ({
      ...placeIn(view.state, path),
      severity: "error",
      message: path === "" ? message : `${path} ${message}`,
    }));
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        lintGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        json(),
        syntaxHighlighting(colors),
        linter(findFaults, { delay: 300 }),
        keymap.of(keys),
        EditorView.lineWrapping,
        // A scrollable area must be reachable by keyboard, and have a name.
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        look,
        EditorView.domEventHandlers({ paste }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText: (changed) => {
      if (changed !== view.state.doc.toString())
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: changed } });
    },
    setIssues: (found) => {
      issues = found;
      // Linting again would be put off until the next change of the text.
      view.dispatch(setDiagnostics(view.state, findFaults(view)));
    },
    focusOn: (path) => {
      const { from } = placeIn(view.state, path);
      view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}

/** A request that is pasted replaces what is there, which can be undone. Returns whether the event is dealt with. */
function paste(event: ClipboardEvent, view: EditorView): boolean {
  const request = pastedRequest(event.clipboardData?.getData("text/plain") ?? "", view.state);
  if (request === undefined) return false;
  view.dispatch({
    changes: { from: 0, to: view.state.doc.length, insert: request },
    selection: { anchor: 0 },
    scrollIntoView: true,
    userEvent: "input.paste",
  });
  return true;
}

/** The body of a curl command, or an object beside a valid config, where it could not be anything else. */
function pastedRequest(text: string, { doc, selection }: EditorState): string | undefined {
  const body = curlBody(text);
  if (body !== undefined) return configFaultOf(body) ? body : indented(body);
  const { from, to } = selection.main;
  const isBeside = doc.sliceString(0, from).trim() === "" || doc.sliceString(to).trim() === "";
  const areObjects = configFaultOf(text) === undefined && configFaultOf(doc.toString()) === undefined;
  return isBeside && areObjects ? text : undefined;
}

function placeIn(state: EditorState, path: string): { from: number; to: number } {
  const tree = ensureSyntaxTree(state, state.doc.length, 500);
  const whole = { from: 0, to: Math.min(1, state.doc.length) };
  return (tree && findPlace(tree.topNode, (node) => state.sliceDoc(node.from, node.to), path)) ?? whole;
}

function firstErrorIn(state: EditorState): { from: number; to: number } | undefined {
  const errors: { from: number; to: number }[] = [];
  ensureSyntaxTree(state, state.doc.length, 500)?.iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) errors.push({ from, to });
    },
  });
  return errors[0];
}
