import { useLayoutEffect, useRef } from "preact/hooks";

/** An action that the palette offers. */
export interface Command {
  readonly id: string;
  readonly label: string;
  readonly note?: string;
  /** The single-key shortcut for the same action. */
  readonly shortcut?: string;
  readonly run: () => void;
}

const offers = new Set<() => readonly Command[]>();

/** Offers these commands for as long as the component is mounted. */
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
