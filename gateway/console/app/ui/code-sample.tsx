import { CopyButton } from "./copy-button.tsx";

/** Text that is meant to be copied. */
export function CodeSample({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <div class="code-sample">
      <pre>{text}</pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
