import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import packageJson from "../../package.json" with { type: "json" };
import { anthropicErrorSchema, errorSchema } from "../json/error-schema.ts";
import { currentKeySchema, keySchema } from "../json/key-schema.ts";
import { memberSchema } from "../json/member-schema.ts";
import { modelSchema } from "../json/model-schema.ts";
import { organizationChangeSchema } from "../json/organization-change-schema.ts";
import {
  changeSchema,
  diffSchema,
  listedPresetSchema,
  presetSchema,
  versionSchema,
  workspaceChangeSchema,
} from "../json/preset-schema.ts";
import { resolvedRequestSchema } from "../json/resolved-request-schema.ts";
import { workspaceMemberSchema, workspaceSchema } from "../json/workspace-schema.ts";
import { refusalComponents } from "./answers.ts";
import { asBearer, securitySchemes } from "./security.ts";

type Description = NonNullable<FastifyDynamicSwaggerOptions["openapi"]>;

/** The API description except for the operations, which come from the routes. */
export const description = {
  openapi: "3.1.0",
  info: {
    title: "Setpoint",
    version: packageJson.version,
    license: { name: "Apache License 2.0", identifier: packageJson.license },
    description: `Versioned LLM presets: the configuration of an inference request, named, versioned, rolled back with one call.

**Keys.** Send a key as a bearer token. An API key reads and writes the presets of one workspace. A management key administers its organization (keys, workspaces and members) and can use the presets of every workspace there: those of the default one, or of the one given as \`workspace_id\`.

**Lists** take \`offset\` and \`limit\`; \`total_count\` counts all records, not those on the page. A value out of bounds is refused, never clamped.

**Errors** have one shape: \`{"error": {"code", "message", "metadata"}}\`. An answer with status 500 or above means that nothing was stored, so the request may be sent again. The one exception is a database or a service that goes away during a commit and stays away, or whose answers are lost on their way; then, as after an answer that you did not get, a retry is safe if the request had an \`Idempotency-Key\`.

Requests that are sent to an upstream are answered as the upstream answers, including its errors. On \`/api/v1/messages\`, our own errors have Anthropic's shape, too.

**Changes.** Answers with a preset carry an \`ETag\`. Send it back as \`If-Match\`, and the change is made only if nobody else has changed the preset since. Nothing else has one, so a change of anything else refuses it.`,
  },
  servers: [{ url: "/" }],
  security: asBearer,
  tags: [
    { name: "Presets", description: "Create, read and change presets." },
    { name: "Versions", description: "The history of a preset: its versions, how they differ, and who changed what." },
    {
      name: "Inference",
      description: "Send a request to the model that it, or the preset it names, asks for. Same dialect in and out.",
    },
    { name: "Models", description: "What a request may name as its model." },
    { name: "Keys", description: "The keys of the organization, and the key that a call is made with." },
    { name: "Workspaces", description: "The workspaces of the organization, and who belongs to them." },
    {
      name: "Organization",
      description: "The organization that a management key belongs to: its members, and who changed what.",
    },
  ],
  components: {
    schemas: {
      Preset: listedPresetSchema,
      PresetWithDesignatedVersion: presetSchema,
      PresetVersion: versionSchema,
      PresetChange: changeSchema,
      WorkspaceChange: workspaceChangeSchema,
      VersionDiff: diffSchema,
      Model: modelSchema,
      ResolvedRequest: resolvedRequestSchema,
      Key: keySchema,
      CurrentKey: currentKeySchema,
      Workspace: workspaceSchema,
      WorkspaceMember: workspaceMemberSchema,
      OrganizationMember: memberSchema,
      OrganizationChange: organizationChangeSchema,
      Error: errorSchema,
      AnthropicError: anthropicErrorSchema,
    },
    responses: refusalComponents,
    securitySchemes,
  },
} as object as Description; // The plugin's types allow neither schemas of TypeBox nor `undefined`.
