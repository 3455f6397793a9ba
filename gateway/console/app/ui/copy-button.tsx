import { useState } from "preact/hooks";
import { copyText } from "./copy-text.ts";
import { Icon } from "./icon.tsx";

interface CopyButtonProps {
  readonly text: string | (() => string);
  /** What is copied, as the words after "Copy". */
  readonly what: string;
  /** Whether only the icon is visible. */
  readonly isBare?: boolean;
}

export function CopyButton({ text, what, isBare = false }: CopyButtonProps) {
  const [isDone, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    if (!(await copyText(typeof text === "string" ? text : text(), what))) return;
    setDone(true);
    setTimeout(() => setDone(false), 1_600);
  };
  return (
    <button
      type="button"
      class={isBare ? "button bare" : "button small"}
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={copy}
    >
      <Icon name={isDone ? "done" : "copy"} />
      {!isBare && "Copy"}
    </button>
  );
}
