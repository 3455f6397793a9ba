import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { FieldViolation } from "../../services/platform/domain/domain-error.ts";
import { graceSecondsMax, nameLengthMax } from "../../services/platform/domain/limits.ts";
import { bodyReader } from "./body-reader.ts";
import { kindByName } from "./key.ts";
import { kindSchema, permissionSchema } from "./key-schema.ts";
import { Type } from "./schema-builder.ts";
import { fixedValue, nameRule, optionalText } from "./schema-parts.ts";

/** Silently ignoring a limit would be dangerous. */
const unmetered = {
  limit: fixedValue(null, "null: spending is not metered here, so a limit would not hold"),
  limit_reset: fixedValue(null, "null: spending is not metered here, so there is no limit to reset"),
  include_byok_in_limit: fixedValue(false, "false: spending is not metered here"),
};

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/;
const expiresAt = optionalText({
  pattern: timePattern.source,
  description: "a UTC date-time in the future, such as 2031-01-31T09:00:00Z, or null",
});
const permissions = Type.Optional(
  Type.Array(permissionSchema, { minItems: 1, description: "What the key may do with presets." }),
);

export const keyCreationSchema = Type.Object(
  {
    name: Type.String(nameRule(nameLengthMax)),
    workspace_id: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "Id or slug of the workspace. Default: the default one. Not for a management key, which can use all of them.",
      }),
    ),
    creator_user_id: optionalText({
      minLength: 1,
      description: "The member of the organization who will own the key. Default: the owner of the calling key.",
    }),
    expires_at: expiresAt,
    kind: Type.Optional(kindSchema),
    permissions,
    ...unmetered,
  },
  { additionalProperties: false, examples: [{ name: "ci", permissions: ["presets:read"] }] },
);

export const keyUpdateSchema = Type.Object(
  {
    name: Type.Optional(Type.String(nameRule(nameLengthMax))),
    disabled: Type.Optional(Type.Boolean({ description: "Whether the key is disabled." })),
    expires_at: expiresAt,
    permissions,
    ...unmetered,
  },
  { additionalProperties: false, minProperties: 1, examples: [{ disabled: true }] },
);

export const rotationSchema = Type.Object(
  {
    grace_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: graceSecondsMax,
        default: 0,
        description: "How long the old secret keeps working.",
      }),
    ),
  },
  { additionalProperties: false, examples: [{ grace_seconds: 3600 }] },
);

const readCreation = bodyReader(keyCreationSchema, timeViolations, pastViolations);
const readUpdate = bodyReader(keyUpdateSchema, timeViolations, pastViolations);
const readRotation = bodyReader(rotationSchema);

/** The body of POST /keys, as the organization service takes it. */
export function keyCreationFrom(body: string | undefined) {
  const { name, workspace_id, creator_user_id, expires_at, kind = "api", permissions = [] } = readCreation(body);
  return {
    name,
    workspaceId: workspace_id ?? "",
    creatorUserId: creator_user_id ?? "",
    kind: kindByName[kind],
    permissions,
    ...expireTimeOf(expires_at),
  };
}

/** The body of PATCH /keys/{hash}. Fields that are accepted only for compatibility change nothing. */
export function keyUpdateFrom(body: string | undefined) {
  const { name, disabled, expires_at, permissions } = readUpdate(body);
  const given = { name, disabled, expire_time: expires_at, permissions };
  const paths = Object.entries(given).flatMap(([path, value]) => (value === undefined ? [] : path));
  return {
    updateMask: { paths },
    ...(name === undefined ? {} : { name }),
    ...(disabled === undefined ? {} : { disabled }),
    ...(permissions === undefined ? {} : { permissions }),
    ...expireTimeOf(expires_at),
  };
}

/** The body of POST /keys/{hash}/rotate, which may be left out. */
export function rotationFrom(body: string | undefined) {
  const { grace_seconds: graceSeconds = 0 } = readRotation(body || "{}");
  return { graceSeconds };
}

function expireTimeOf(expiresAt: string | null | undefined) {
  return typeof expiresAt === "string" ? { expireTime: timestampFromDate(new Date(expiresAt)) } : {};
}

type Fields = Readonly<Record<string, unknown>>;

/** For a well-formed time. */
function timeViolations({ expires_at }: Fields): FieldViolation[] {
  const isValid = !isTimeText(expires_at) || timeFrom(expires_at) !== undefined;
  return isValid ? [] : [{ path: "expires_at", message: "must be a valid date and time" }];
}

/**
 * For a valid time. Whether it is refused alone is for the service to say, which knows whether the request is a retry of
 * one that was in time.
 */
function pastViolations({ expires_at }: Fields): FieldViolation[] {
  const time = isTimeText(expires_at) ? timeFrom(expires_at) : undefined;
  const isOver = time !== undefined && time.getTime() <= Date.now();
  return isOver ? [{ path: "expires_at", message: "must be in the future" }] : [];
}

function isTimeText(value: unknown): value is string {
  return typeof value === "string" && timePattern.test(value);
}

/** Undefined if there is no such day: JavaScript turns February 30 into March 2. */
function timeFrom(text: string): Date | undefined {
  const time = new Date(text);
  const isThatDay = !Number.isNaN(time.getTime()) && time.toISOString().slice(0, 19) === text.slice(0, 19);
  return isThatDay ? time : undefined;
}
