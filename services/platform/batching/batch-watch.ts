/** Told what a batcher does. */
export interface BatchWatch {
  /** With how to learn what waits. */
  opened(readWaiting: () => number): void;
  /** A batch of so many went out. */
  sent(count: number): void;
}
