import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { useSettled } from "./use-settled.ts";

interface SearchFieldProps {
  /** What the address asks for. */
  readonly q: string;
  /** Shows what fits a text. */
  readonly go: (text: string, how: "push" | "replace") => void;
  /** What is searched, and by what. */
  readonly label: string;
  readonly placeholder: string;
  /** What becomes of a text before it is shown or asked for. */
  readonly clean?: (text: string) => string;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

/**
 * Searches a list. What is typed goes into the address once one pauses. Back leads to the list as it was before the
 * first letter.
 */
export function SearchField({ q, go, label, placeholder, clean = (text) => text, onKeyDown }: SearchFieldProps) {
  const [text, setText] = useState(q);
  const settled = useSettled(text, 180);
  /** The step of the history that this search has made, from what it began with; undefined until its first letter. */
  const made = useRef<{ readonly from: string; readonly to: string }>(undefined);
  // Not when the address changes: only what is typed leads on.
  useEffect(() => {
    const wanted = settled.trim();
    if (wanted === q) return;
    const own = made.current?.to === q ? made.current : undefined;
    if (own?.from === wanted) {
      // It is undone by who takes back what they typed: a second step to the same list would lead nowhere.
      made.current = undefined;
      history.back();
      return;
    }
    go(wanted, own ? "replace" : "push");
    made.current = { from: own?.from ?? q, to: wanted };
  }, [settled]);
  // Where something else changed the address, such as Back. What is being typed is not overwritten.
  useEffect(() => {
    if (q !== settled.trim()) setText(q);
  }, [q]);
  return (
    <search class="search">
      <Icon name="search" />
      <input
        class="input"
        type="search"
        maxLength={255}
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onInput={(event) => setText(clean(event.currentTarget.value))}
        onKeyDown={onKeyDown}
        onBlur={() => {
          made.current = undefined;
        }}
      />
    </search>
  );
}
