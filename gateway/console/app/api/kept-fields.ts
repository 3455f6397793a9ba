import type { Dialect } from "./types.ts";

/** Defined by the build, from the gateway's own tables. */
declare const KEPT_FIELDS: Readonly<Record<Dialect, readonly string[]>>;

/** The request fields that a preset keeps, by dialect. */
export const keptFields = KEPT_FIELDS;
