import type { Static } from "typebox";
import { DomainError, type FieldViolation } from "../../../services/platform/domain/domain-error.ts";
import { ambiguities, parseJsonObject } from "../../../services/platform/json/json-text.ts";
import { isRepeated } from "../../../services/platform/json/repetition-violations.ts";
import { schemaCheck } from "../../../services/platform/json/schema-check.ts";
import { type DialectName, dialectNames } from "../../dialects/dialect-name.ts";
import { Type } from "../../json/schema-builder.ts";
import { defaultTimeouts, timeoutsFrom, timeoutsSchema, type UpstreamTimeouts } from "./upstream-timeouts.ts";

/** Where the secret of an upstream is to be found; the file itself holds none. */
export interface CredentialSource {
  readonly header: string;
  readonly prefix: string;
  readonly env: string | undefined;
  readonly file: string | undefined;
}

/** One entry of the table, as the operator wrote it. */
export interface UpstreamDefinition {
  readonly name: string;
  readonly baseUrl: URL;
  readonly dialects: readonly DialectName[];
  readonly models: readonly string[];
  readonly stripPrefix: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly credential: CredentialSource | undefined;
  readonly timeouts: UpstreamTimeouts;
  /** Undefined: no limit. */
  readonly concurrencyMax: number | undefined;
  /** Whether it understands a list of `models` itself. */
  readonly hasNativeFallbacks: boolean;
  /** Whether a request may be sent again that may have been billed. */
  readonly mayRetryAny: boolean;
}

const headerName = Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$", description: "the name of a header" });
const headerValue = Type.String({ pattern: "^[\\t\\x20-\\x7e]{0,4096}$", description: "one line of ASCII" });

const upstreamSchema = Type.Object(
  {
    name: Type.String({
      pattern: "^[a-z0-9][a-z0-9._-]{0,62}$",
      description: "lower-case letters, digits, dots, dashes and underscores, at most 63",
    }),
    base_url: Type.String({ minLength: 1, maxLength: 2048 }),
    dialects: Type.Array(Type.Enum([...dialectNames]), { minItems: 1, uniqueItems: true }),
    models: Type.Array(
      Type.String({
        pattern: "^([^*\\s]{0,255}[^*\\s/]|[^*\\s]{0,255}\\*)$",
        description: 'the name of a model, the beginning of one and a star such as "openai/*", or "*"',
      }),
      { minItems: 1 },
    ),
    strip_prefix: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    headers: Type.Optional(Type.Record(headerName, headerValue, { additionalProperties: false })),
    credential: Type.Optional(
      Type.Object(
        {
          header: Type.Optional(headerName),
          prefix: Type.Optional(headerValue),
          env: Type.Optional(
            Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$", description: "the name of a variable" }),
          ),
          file: Type.Optional(Type.String({ minLength: 1 })),
        },
        { additionalProperties: false },
      ),
    ),
    timeouts: Type.Optional(timeoutsSchema),
    concurrency_max: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    fallbacks: Type.Optional(Type.Enum(["native", "gateway"])),
    retry: Type.Optional(Type.Enum(["safe", "any"])),
  },
  { additionalProperties: false },
);
type UpstreamEntry = Static<typeof upstreamSchema>;

const fileSchema = Type.Object(
  { upstreams: Type.Array(Type.Unknown()), timeouts: Type.Optional(timeoutsSchema) },
  { additionalProperties: false },
);

/** A faulty table, and everything that is wrong with it. It never shows a value: one may be a secret. */
export class UpstreamsFileError extends Error {
  readonly violations: readonly FieldViolation[];

  constructor(violations: readonly FieldViolation[]) {
    super(violations.map(({ path, message }) => `${path || "the file"} ${message}`).join("; "));
    this.name = "UpstreamsFileError";
    this.violations = violations;
  }
}

/** Reads the text of the file, or throws an UpstreamsFileError. */
export function parseUpstreams(text: string): readonly UpstreamDefinition[] {
  const file = readJson(text);
  refuseIfAny(schemaCheck(fileSchema).violations(file, ""));
  const { upstreams, timeouts } = file as Static<typeof fileSchema>;
  refuseIfAny(upstreams.flatMap((entry, index) => violationsOf(entry, `upstreams[${index}]`)));
  const entries = upstreams as UpstreamEntry[];
  refuseIfAny(repeatedNames(entries));
  const defaults = timeoutsFrom(timeouts, defaultTimeouts);
  return entries.map((entry) => definitionFrom(entry, defaults));
}

function readJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const object = parseJsonObject(text.startsWith("\uFEFF") ? text.slice(1) : text);
    refuseIfAny(ambiguities(object));
    return object.value;
  } catch (error) {
    if (error instanceof DomainError) throw new UpstreamsFileError(error.violations);
    throw error;
  }
}

function refuseIfAny(violations: readonly FieldViolation[]): void {
  if (violations.length > 0) throw new UpstreamsFileError(violations);
}

/** Headers that concern a single connection, or are set by the gateway. */
const reservedHeaders = new Set([
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function violationsOf(value: unknown, path: string): FieldViolation[] {
  const violations = schemaCheck(upstreamSchema).violations(value, path);
  if (violations.length > 0) return violations;
  const { base_url, models, strip_prefix, headers = {}, credential } = value as UpstreamEntry;
  const found: FieldViolation[] = [];
  const refuse = (field: string, message: string) => found.push({ path: `${path}.${field}`, message });
  const wrongUrl = urlFault(base_url);
  if (wrongUrl) refuse("base_url", wrongUrl);
  const leavesSlash = (prefix: string) => models.some((model) => model.startsWith(`${prefix}/`));
  if (strip_prefix !== undefined && (strip_prefix.endsWith("*") || leavesSlash(strip_prefix))) {
    refuse("strip_prefix", "must be a prefix such as openai/, with its slash and without a star");
  }
  const seen = new Set<string>();
  for (const name of Object.keys(headers)) {
    const header = name.toLowerCase();
    if (reservedHeaders.has(header)) refuse(`headers.${name}`, "may not be set: leave it out");
    if (seen.has(header)) refuse(`headers.${name}`, isRepeated);
    seen.add(header);
  }
  if (credential) {
    if ((credential.env === undefined) === (credential.file === undefined)) {
      refuse("credential", "must have either env, the name of a variable, or file, the path of a file");
    }
    if (reservedHeaders.has(credential.header?.toLowerCase() ?? "")) {
      refuse("credential.header", "must be a header such as authorization or x-api-key");
    }
  }
  return found;
}

function urlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return "must be a URL such as https://api.openai.com/v1";
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must start with https:// or http://";
  if (url.username || url.password) return "must hold no user name and no password: use credential";
  if (url.hash) return "must have nothing behind a #";
  const path = url.pathname.replace(/\/+$/, "");
  const dialect = dialectNames.find((each) => path.endsWith(`/${each}`));
  if (dialect) return `must end before /${dialect}, which is appended to it`;
  return undefined;
}

function repeatedNames(entries: readonly UpstreamEntry[]): FieldViolation[] {
  const seen = new Set<string>();
  return entries.flatMap(({ name }, index) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return { path: `upstreams[${index}].name`, message: "must be different from the names before it" };
  });
}

function definitionFrom(entry: UpstreamEntry, defaults: UpstreamTimeouts): UpstreamDefinition {
  return {
    name: entry.name,
    baseUrl: new URL(entry.base_url),
    dialects: entry.dialects,
    models: entry.models,
    stripPrefix: entry.strip_prefix ?? "",
    headers: Object.fromEntries(
      Object.entries(entry.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    ),
    credential: entry.credential && credentialFrom(entry.credential),
    timeouts: timeoutsFrom(entry.timeouts, defaults),
    concurrencyMax: entry.concurrency_max,
    hasNativeFallbacks: entry.fallbacks === "native",
    mayRetryAny: entry.retry === "any",
  };
}

function credentialFrom(given: NonNullable<UpstreamEntry["credential"]>): CredentialSource {
  const header = given.header?.toLowerCase() ?? "authorization";
  return {
    header,
    prefix: given.prefix ?? (header === "authorization" ? "Bearer " : ""),
    env: given.env,
    file: given.file,
  };
}
