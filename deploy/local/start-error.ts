/** A failure that the person at the terminal can act on: its message says what, why and what to do, so it is shown without a stack. */
export class StartError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "StartError";
  }
}
