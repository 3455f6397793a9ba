/** Where the parts of an outgoing request come from. */
export interface Provenance {
  /** Null if the request names none. */
  readonly preset: {
    readonly slug: string;
    readonly version: number;
    readonly version_id: string;
    readonly pinned: boolean;
  } | null;
  /** By JSON pointer into the outgoing body. If two apply to a value, the longer one counts. */
  readonly fields: Readonly<Record<string, FieldOrigin>>;
  readonly dropped: readonly Dropped[];
}

export interface FieldOrigin {
  /** `merged`: a system prompt of both. */
  readonly from: "request" | "preset" | "merged";
  /** Whose value was overridden. */
  readonly overrides?: "preset";
}

/** Something that is not sent. */
export interface Dropped {
  /** Its JSON pointer: into the config of the preset, or into the body of the request. */
  readonly field: string;
  readonly from: "request" | "preset";
  /** Why, in words. */
  readonly reason: string;
}

/** Many times the length of any meaningful name. */
const nameLengthMax = 1_024;

/** A JSON pointer (RFC 6901). A very long name is truncated. */
export function pointer(...keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${shown(String(key)).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

function shown(name: string): string {
  return name.length > nameLengthMax ? `${name.slice(0, nameLengthMax)}…` : name;
}
