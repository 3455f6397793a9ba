import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";

/** An object as it is sent to the Kubernetes API. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  [field: string]: unknown;
}

interface Kustomization {
  readonly namespace?: string;
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly labels?: readonly Labels[];
  readonly images?: readonly {
    readonly name: string;
    readonly newName?: string;
    readonly newTag?: string;
    readonly digest?: string;
  }[];
  readonly patches?: readonly Patch[];
  readonly configMapGenerator?: readonly Generator[];
  readonly secretGenerator?: readonly Generator[];
}

interface Labels {
  readonly pairs: Record<string, string>;
  /** Where else the labels go, in objects that have labels there. */
  readonly fields?: readonly { readonly path: string }[];
}

interface Patch {
  readonly path?: string;
  readonly patch?: string;
  /** Without a name: all objects of the kind. */
  readonly target?: { readonly kind: string; readonly name?: string };
}

interface Generator {
  readonly name: string;
  readonly behavior?: "merge";
  readonly envs?: readonly string[];
  readonly literals?: readonly string[];
  readonly files?: readonly string[];
}

/** What is supported at each place. Anything else would be ignored silently, so it is rejected. */
const understood = {
  kustomization: [
    ...["apiVersion", "kind", "namespace", "resources", "components", "labels", "images", "patches"],
    ...["configMapGenerator", "secretGenerator"],
  ],
  labels: ["pairs", "fields"],
  images: ["name", "newName", "newTag", "digest"],
  patches: ["path", "patch", "target"],
  configMapGenerator: ["name", "behavior", "envs", "literals", "files"],
  secretGenerator: ["name", "literals"],
};

/** An object in progress, and whether its name gets a hash in the end. */
interface Draft {
  object: KubernetesObject;
  readonly isGenerated: boolean;
}

/**
 * The objects of a kustomization as `kubectl kustomize` renders them, optionally with more components than it names.
 * Supports only what the manifests of this repository use, and rejects the rest.
 */
export function renderKustomization(folder: string, moreComponents: readonly string[] = []): KubernetesObject[] {
  const drafts = accumulate(folder, [], moreComponents);
  const ids = drafts.map(({ object }) => `${object.kind} ${object.metadata.name}`);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new Error(`${twice} is there twice`);
  const names = new Map<string, string>();
  for (const { object, isGenerated } of drafts) {
    if (!isGenerated) continue;
    const hashed = `${object.metadata.name}-${contentHash(object)}`;
    names.set(`${object.kind}/${object.metadata.name}`, hashed);
    object.metadata.name = hashed;
  }
  const objects = drafts.map(({ object }) => object);
  for (const object of objects) renameReferences(object, names);
  return objects;
}

/** Adds the content of a kustomization or component to the existing objects. */
function accumulate(folder: string, inherited: readonly Draft[], moreComponents: readonly string[] = []): Draft[] {
  const kustomization = readKustomization(folder);
  let drafts = [...inherited];
  for (const resource of kustomization.resources ?? []) drafts.push(...readResource(join(folder, resource)));
  const components = (kustomization.components ?? []).map((component) => join(folder, component));
  for (const component of [...components, ...moreComponents]) drafts = accumulate(component, drafts);
  for (const generator of kustomization.configMapGenerator ?? []) generate("ConfigMap", generator, folder, drafts);
  for (const generator of kustomization.secretGenerator ?? []) generate("Secret", generator, folder, drafts);
  for (const patch of kustomization.patches ?? []) applyPatch(patch, folder, drafts);
  for (const { object } of drafts) {
    if (kustomization.namespace !== undefined) setNamespace(object, kustomization.namespace);
    for (const labels of kustomization.labels ?? []) setLabels(object, labels);
    for (const image of kustomization.images ?? []) setImage(object, image);
  }
  return drafts;
}

function readKustomization(folder: string): Kustomization {
  const file = join(folder, "kustomization.yaml");
  const kustomization = parse(readFileSync(file, "utf8"));
  refuseUnknown(kustomization, understood.kustomization, file);
  for (const field of ["labels", "images", "patches", "configMapGenerator", "secretGenerator"] as const) {
    for (const item of kustomization[field] ?? []) refuseUnknown(item, understood[field], `${file} ${field}`);
  }
  return kustomization;
}

function refuseUnknown(value: object, known: readonly string[], where: string): void {
  const unknown = Object.keys(value).filter((key) => !known.includes(key));
  if (unknown.length > 0) throw new Error(`${where}: ${unknown.join(", ")} is not understood here`);
}

function readResource(path: string): Draft[] {
  if (!existsSync(path)) throw new Error(`${path} does not exist`);
  return statSync(path).isDirectory()
    ? accumulate(path, [])
    : readObjects(path).map((object) => ({ object, isGenerated: false }));
}

/** The objects of a YAML file. */
export function readObjects(file: string): KubernetesObject[] {
  return parseAllDocuments(readFileSync(file, "utf8")).map((document) => {
    const [error] = [...document.errors, ...document.warnings];
    if (error) throw new Error(`${file}: ${error.message}`);
    return document.toJS();
  });
}

function generate(kind: "ConfigMap" | "Secret", generator: Generator, folder: string, drafts: Draft[]): void {
  const entries = [
    ...(generator.envs ?? []).flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n")),
    ...(generator.literals ?? []),
  ]
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
  const files = (generator.files ?? []).map(
    (file) => [basename(file), readFileSync(join(folder, file), "utf8")] as const,
  );
  const texts = [...entries, ...files].map(([key, text]) => [
    key,
    kind === "Secret" ? Buffer.from(text).toString("base64") : text,
  ]);
  const data = Object.fromEntries(texts);
  if (generator.behavior === "merge") {
    const { object } = getDraft(drafts, kind, generator.name);
    object.data = { ...(object.data as object), ...data };
    return;
  }
  const type = kind === "Secret" ? { type: "Opaque" } : {};
  const object = { apiVersion: "v1", kind, metadata: { name: generator.name }, ...type, data };
  drafts.push({ object, isGenerated: true });
}

function getDraft(drafts: readonly Draft[], kind: string, name: string): Draft {
  const draft = drafts.find(({ object }) => object.kind === kind && object.metadata.name === name);
  if (!draft) throw new Error(`There is no ${kind} ${name} to change`);
  return draft;
}

function applyPatch({ path, patch, target }: Patch, folder: string, drafts: readonly Draft[]): void {
  const content = parse(path === undefined ? (patch as string) : readFileSync(join(folder, path), "utf8"));
  const { kind, name } = target ?? { kind: content.kind, name: content.metadata.name };
  const patched =
    name === undefined ? drafts.filter(({ object }) => object.kind === kind) : [getDraft(drafts, kind, name)];
  for (const draft of patched) {
    if (Array.isArray(content)) for (const operation of content) applyOperation(draft.object, operation);
    else draft.object = mergeStrategically(draft.object, content, "") as KubernetesObject;
  }
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

/** One operation of a JSON patch (RFC 6902). */
function applyOperation(object: KubernetesObject, { op, path, value }: Operation): void {
  const keys = path
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = keys.pop() as string;
  const parent = keys.reduce<Json | undefined>((place, key) => place?.[key] as Json | undefined, object as Json);
  const exists = parent !== undefined && Object.hasOwn(parent, last);
  if (parent === undefined || (op === "replace" && !exists) || !["add", "replace"].includes(op)) {
    throw new Error(`${op} ${path} of ${object.kind} ${object.metadata.name} cannot be done`);
  }
  parent[last] = value;
}

/** The field by which elements of a list are matched. Other lists are replaced. */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: "name",
  initContainers: "name",
  volumes: "name",
  env: "name",
  volumeMounts: "mountPath",
};

type Json = { [key: string]: unknown };

/** A strategic merge patch: objects are merged, null removes, some lists are merged by key with new elements first. */
function mergeStrategically(base: unknown, patch: unknown, field: string): unknown {
  const key = mergeKeys[field];
  if (Array.isArray(base) && Array.isArray(patch) && key !== undefined) {
    const isSame = (a: Json) => (b: Json) => a[key] === b[key];
    const fresh = patch.filter((item) => !base.some(isSame(item)));
    const merged = base.map((item) => mergeStrategically(item, patch.find(isSame(item)) ?? {}, ""));
    return [...fresh, ...merged];
  }
  if (!isJson(base) || !isJson(patch)) return patch;
  const merged: Json = { ...base };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergeStrategically(base[name], value, name);
  }
  return merged;
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function setNamespace(object: KubernetesObject, namespace: string): void {
  if (object.kind === "Namespace") object.metadata.name = namespace;
  else if (object.kind !== "PriorityClass") object.metadata.namespace = namespace;
}

function setLabels(object: KubernetesObject, { pairs, fields = [] }: Labels): void {
  object.metadata.labels = { ...object.metadata.labels, ...pairs };
  for (const field of fields) {
    refuseUnknown(field, ["path"], `labels ${field.path}`);
    const place = field.path.split("/").reduce<unknown>((at, key) => (isJson(at) ? at[key] : undefined), object);
    if (isJson(place)) Object.assign(place, pairs);
  }
}

function setImage(object: KubernetesObject, rule: NonNullable<Kustomization["images"]>[number]): void {
  visit(object, (place) => {
    const [name, tag = ""] = typeof place.image === "string" ? place.image.split(/(?=:)/) : [];
    if (name === rule.name) {
      const version = rule.newTag === undefined ? tag : `:${rule.newTag}`;
      place.image = `${rule.newName ?? name}${rule.digest === undefined ? version : `@${rule.digest}`}`;
    }
  });
}

/** Where a ConfigMap or Secret is referenced, by the field that holds the reference. */
const references: Readonly<Record<string, readonly [kind: string, nameField: string]>> = {
  configMapRef: ["ConfigMap", "name"],
  configMapKeyRef: ["ConfigMap", "name"],
  secretRef: ["Secret", "name"],
  secretKeyRef: ["Secret", "name"],
  configMap: ["ConfigMap", "name"],
  secret: ["Secret", "secretName"],
};

function renameReferences(object: KubernetesObject, names: ReadonlyMap<string, string>): void {
  visit(object, (place) => {
    for (const [field, [kind, nameField]] of Object.entries(references)) {
      const reference = place[field];
      if (!isJson(reference)) continue;
      const renamed = names.get(`${kind}/${reference[nameField]}`);
      if (renamed !== undefined) reference[nameField] = renamed;
    }
  });
}

/** Calls back for the value itself and every object inside it. */
export function visit(value: unknown, onObject: (place: Json) => void): void {
  if (isJson(value)) onObject(value);
  if (typeof value === "object" && value !== null) for (const child of Object.values(value)) visit(child, onObject);
}

/** The hash that kustomize appends to the name of a generated object. It breaks long secrets into lines, we do not. */
function contentHash({ kind, type, data }: KubernetesObject): string {
  const sorted = Object.fromEntries(Object.entries(data as object).sort(([a], [b]) => (a < b ? -1 : 1)));
  const content = { data: sorted, kind, name: "", ...(type === undefined ? {} : { type }) };
  // Go escapes these in JSON, JavaScript does not.
  const escapes: Readonly<Record<string, string>> = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026" };
  const text = JSON.stringify(content).replace(/[<>&]/g, (character) => escapes[character] as string);
  // No vowels, nor digits that look like them, so that no words arise.
  const letters: Readonly<Record<string, string>> = { 0: "g", 1: "h", 3: "k", a: "m", e: "t" };
  const hex = createHash("sha256").update(text).digest("hex").slice(0, 10);
  return hex.replace(/[013ae]/g, (character) => letters[character] as string);
}
