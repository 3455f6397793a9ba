import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

const announcement = signal("");

/** Announces to screen readers what has happened. */
export function announce(text: string): void {
  // Screen readers repeat the same words only if the text changes.
  announcement.value = announcement.value === text ? `${text}\u00a0` : text;
}

/** Announces a total to screen readers once it is known. */
export function useAnnouncedTotal(total: number | undefined, isLoading: boolean, one: string, many: string): void {
  useEffect(() => {
    if (total !== undefined && !isLoading) announce(`${total} ${total === 1 ? one : many}`);
  }, [total, isLoading]);
}

export function Announcer() {
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {announcement}
    </div>
  );
}
