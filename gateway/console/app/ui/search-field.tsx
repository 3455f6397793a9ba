import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { useSettled } from "./use-settled.ts";

interface SearchFieldProps {
  /** The search text in the address. */
  readonly q: string;
  /** Shows what matches a text. */
  readonly go: (text: string, how: "push" | "replace") => void;
  /** What is searched, and by what. */
  readonly label: string;
  readonly placeholder: string;
  /** Applied to the text before it is shown or searched for. */
  readonly clean?: (text: string) => string;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

/**
 * Searches a list. The text goes into the address after a pause in typing. Back returns to the list as it was before
 * the first letter.
 */
export function SearchField({ q, go, label, placeholder, clean = (text) => text, onKeyDown }: SearchFieldProps) {
  const [text, setText] = useState(q);
  const settled = useSettled(text, 180);
  /** The history entry that this search has added, with the text before it; undefined until the first letter. */
  const made = useRef<{ readonly from: string; readonly to: string }>(undefined);
  // Does not run when the address changes: only typing navigates.
  useEffect(() => {
    const wanted = settled.trim();
    if (wanted === q) return;
    const own = made.current?.to === q ? made.current : undefined;
    if (own?.from === wanted) {
      // Deleting what was typed goes back in the history: a second entry for the same list would lead nowhere.
      made.current = undefined;
      history.back();
      return;
    }
    go(wanted, own ? "replace" : "push");
    made.current = { from: own?.from ?? q, to: wanted };
  }, [settled]);
  // For when something else changed the address, such as Back. What is being typed is not overwritten.
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
