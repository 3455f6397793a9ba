import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { isoTimeFrom } from "../../services/platform/domain/iso-time.ts";

/** Null if there is none. */
export function isoTime(time: Timestamp | undefined): string | null {
  return time ? isoTimeFrom(timestampMs(time)) : null;
}
