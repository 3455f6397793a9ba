import { useLayoutEffect, useRef } from "preact/hooks";

/** Something to do that is found in the palette. */
export interface Command {
  readonly id: string;
  readonly label: string;
  readonly note?: string;
  /** The single key that does the same. */
  readonly shortcut?: string;
  readonly run: () => void;
}

const offers = new Set<() => readonly Command[]>();

/** Offers what can be done here for as long as this is shown. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands);
  latest.current = commands;
  useLayoutEffect(() => {
    const offer = (): readonly Command[] => latest.current;
    offers.add(offer);
    return () => void offers.delete(offer);
  }, []);
}

export function offeredCommands(): readonly Command[] {
  return [...offers].flatMap((offer) => offer());
}
