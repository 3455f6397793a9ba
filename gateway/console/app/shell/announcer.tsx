import { signal } from "@preact/signals";

const announcement = signal("");

/** Tells those who do not see the page what has come of something. */
export function announce(text: string): void {
  // The same words twice in a row are read twice only where the text changes.
  announcement.value = announcement.value === text ? `${text}\u00a0` : text;
}

export function Announcer() {
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {announcement}
    </div>
  );
}
