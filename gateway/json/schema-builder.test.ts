import { execFileSync } from "node:child_process";
import { Type as TypeBox } from "typebox";
import { expect, it } from "vitest";
import { Type } from "./schema-builder.ts";

function schemas(type: typeof Type) {
  const name = type.String({ pattern: "^[a-z]+$" });
  return {
    leaves: [type.Boolean(), type.Integer({ minimum: 1 }), type.Number(), name, type.Unknown(), type.Ref("#/x")],
    list: type.Array(name, { maxItems: 2, description: "some" }),
    choice: type.Enum(["a", "b"], { type: "string" }),
    free: type.Unsafe<"x" | null>({ type: ["string", "null"], description: "any" }),
    byName: [type.Record(name, type.String(), { additionalProperties: false }), type.Record(type.String(), name)],
    some: type.Object({ a: name, b: type.Optional(type.Object({})) }, { additionalProperties: false }),
    none: type.Object({ a: type.Optional(name), b: type.Optional(type.Unsafe<1>({ const: 1 })) }),
  };
}

it("builds the same schemas as TypeBox, key by key", () => {
  expect(JSON.stringify(schemas(Type))).toBe(JSON.stringify(schemas(TypeBox as unknown as typeof Type)));
});

it("is loaded by the gateway instead of TypeBox", () => {
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import(${JSON.stringify(new URL("../app.ts", import.meta.url))});
    console.log(JSON.stringify(loaded));`;
  const loaded = JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8", maxBuffer: 2 ** 24 }),
  ) as string[];
  expect(loaded.length).toBeGreaterThan(100);
  expect(loaded.filter((url) => url.includes("/node_modules/typebox/"))).toEqual([]);
});
