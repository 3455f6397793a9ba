/** Notified of what a batcher does. */
export interface BatchObserver {
  /** With a function that reads how many requests are queued. */
  opened(readWaiting: () => number): void;
  /** A batch of so many parts was sent. */
  sent(count: number): void;
}
