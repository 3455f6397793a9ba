import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { openApiDocument } from "../../gateway/openapi-document.ts";
import { isoTime, uuidV7 } from "./patterns.ts";

/** The parts of an OpenAPI document that are used here. */
export interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, DocumentedAnswer>> };
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  /** Only if it differs from the default. */
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: object }[];
  readonly requestBody?: {
    readonly content: { readonly "application/json": MediaType & { readonly example: unknown } };
  };
  readonly responses: Readonly<Record<string, DocumentedAnswer | Reference>>;
}

interface DocumentedAnswer {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content?: { readonly "application/json": MediaType };
}

interface Reference {
  readonly $ref: string;
}

interface MediaType {
  readonly schema: { readonly properties?: Readonly<Record<string, { readonly description?: string }>> };
}

interface PlainAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** `fetch` that fails if the response does not match the API's document. */
export async function documentedFetch(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const { status, headers } = response;
  const text = await response.clone().text();
  await expectDocumented(init.method ?? "GET", new URL(url).pathname, { status, headers, text });
  return response;
}

/** Fails if a response of the API does not match the document: in its status, its headers or any field of its body. */
export async function expectDocumented(method: string, path: string, answer: PlainAnswer): Promise<void> {
  if (!path.startsWith("/api/")) return;
  const document = await loaded();
  const operation = operationAt(document, method, path);
  const response = operation ? operation.responses[answer.status] : refusalAt(document, path);
  const fault = response
    ? faultOf(document, response, method === "HEAD" ? { ...answer, text: undefined } : answer)
    : "the document does not know this status";
  if (fault) throw new Error(`${method} ${path} was answered with ${answer.status} ${answer.text}, but ${fault}`);
}

/** What is not in the document must be refused, in the error format of the path. */
function refusalAt(document: Document, path: string): DocumentedAnswer | Reference {
  return operationAt(document, "POST", path)?.responses[404] ?? { $ref: "#/components/responses/NotFound" };
}

let loading: Promise<Document> | undefined;

function loaded(): Promise<Document> {
  loading ??= openApiDocument().then((text) => JSON.parse(text, closed));
  return loading;
}

/** The document allows for future fields, but today's responses have only those that it names. */
function closed(_key: string, value: unknown): unknown {
  const isOpen =
    typeof value === "object" && value !== null && "properties" in value && !("additionalProperties" in value);
  return isOpen ? { ...value, additionalProperties: false } : value;
}

/** A parameter may be anything here, even empty: refusing it is up to the operation. */
function operationAt({ paths }: Document, method: string, path: string): Operation | undefined {
  const key = method === "HEAD" ? "get" : method.toLowerCase();
  return Object.entries(paths).find(
    ([template, operations]) =>
      operations[key] && new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]*")}/?$`).test(path),
  )?.[1][key];
}

function faultOf(
  document: Document,
  documented: DocumentedAnswer | Reference,
  { headers, text }: { readonly headers: Headers; readonly text: string | undefined },
): string | undefined {
  const response = "$ref" in documented ? document.components.responses[nameIn(documented.$ref)] : documented;
  if (!response) throw new Error(`The document has no ${JSON.stringify(documented)}`);
  const missing = Object.keys(response.headers).find((name) => !headers.has(name));
  if (missing) return `the document names the header ${missing}`;
  if (text === undefined) return undefined;
  if (!response.content) return text === "" ? undefined : "the document names no body";
  const isValid = validatorOf(document, response.content["application/json"].schema);
  return isValid(JSON.parse(text)) ? undefined : `it is not as the document says: ${ajv.errorsText(isValid.errors)}`;
}

function nameIn(pointer: string): string {
  return pointer.slice(pointer.lastIndexOf("/") + 1);
}

const ajv = new Ajv2020({
  allowUnionTypes: true,
  formats: { uuid: uuidV7, "date-time": isoTime },
  keywords: ["components"],
});
const validators = new Map<object, ValidateFunction>();

function validatorOf({ components }: Document, schema: object): ValidateFunction {
  const validator = validators.get(schema) ?? ajv.compile({ ...schema, components });
  validators.set(schema, validator);
  return validator;
}
