// Limits that the gateway announces to its callers, and a service enforces for everyone.

/** The largest int32, the type of offsets and version numbers. */
export const int32Max = 2_147_483_647;

export const slugLengthMax = 128;
export const slugPattern = new RegExp(`^[A-Za-z0-9][A-Za-z0-9._~-]{0,${slugLengthMax - 1}}$`);
/** The pattern in words, as they follow "must be". */
export const slugRule = `1 to ${slugLengthMax} characters of A-Z a-z 0-9 . _ ~ -, with a letter or digit first`;

/** Lengths of text count characters, as people do, and not UTF-16 units. */
export const presetNameLengthMax = 255;
export const presetDescriptionLengthMax = 2_000;
export const presetQueryLengthMax = 255;

/** For a config, and for a system prompt, each as stored. */
export const contentBytesMax = 1_048_576;

/** An idempotency key is the request id of its creation. */
export const requestIdLengthMax = 255;
export const requestIdPattern = new RegExp(`^[\\x20-\\x7e]{1,${requestIdLengthMax}}$`);

/** The minimum time for which a request id is kept: a retry within it is not executed again. */
export const requestRetentionMs = 24 * 60 * 60 * 1000;

/** Of a key, a person or an organization. */
export const nameLengthMax = 255;
export const emailLengthMax = 320;
export const workspaceNameLengthMax = 100;
export const workspaceDescriptionLengthMax = 500;
/** Of each of a workspace's defaults. */
export const workspaceDefaultLengthMax = 255;

export const workspaceSlugLengthMax = 50;
export const workspaceSlugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/;
/** The pattern and the length in words, as they follow "must be". */
export const workspaceSlugRule = `1 to ${workspaceSlugLengthMax} lower-case letters and digits, with single hyphens between them`;

/** How many users one request can add to a workspace, or remove from it. */
export const userIdsMax = 100;

/** How long the old secret of a key can work after a rotation. */
export const graceSecondsMax = 604_800;
