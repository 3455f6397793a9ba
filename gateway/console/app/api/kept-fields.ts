import type { Dialect } from "./types.ts";

/** Written by the build, from the gateway's own tables. */
declare const KEPT_FIELDS: Readonly<Record<Dialect, readonly string[]>>;

/** The fields of a request of each dialect that a preset keeps. */
export const keptFields = KEPT_FIELDS;
