import type { Databases } from "./fill.ts";
import type { LoadProcess } from "./load-process.ts";
import type { Options } from "./options.ts";
import type { Room, Side } from "./processes.ts";

/** A side, and its databases for filling and checking. */
interface OpenSide {
  readonly side: Side;
  readonly databases: Databases;
}

/** What every mode of the bench works with. */
export interface Context {
  readonly load: LoadProcess;
  readonly setpoint: OpenSide;
  readonly openYardstick: () => Promise<OpenSide>;
  /** For what a mode starts itself. */
  readonly room: Room;
  readonly options: Options;
}

/** What a mode has found. */
export interface Outcome {
  readonly text: string;
  readonly json: unknown;
  /** Errors under load, and rows that are not as they were acknowledged. Any of them fails the run. */
  readonly faults: readonly string[];
}
