import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

const announcement = signal("");

/** Tells those who do not see the page what has come of something. */
export function announce(text: string): void {
  // The same words twice in a row are read twice only where the text changes.
  announcement.value = announcement.value === text ? `${text}\u00a0` : text;
}

/** Tells how many there are to those who do not see it, once that is known. */
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
