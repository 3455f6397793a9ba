import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";

/** Null where there is none. */
export function isoTime(time: Timestamp | undefined): string | null {
  return time ? new Date(timestampMs(time)).toISOString() : null;
}
