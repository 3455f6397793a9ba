import { keptFields } from "../../api/kept-fields.ts";
import { dialectOf } from "../../api/presets.ts";
import type { Dialect } from "../../api/types.ts";
import { membersOf } from "../../json/json-pieces.ts";
import type { Draft } from "./draft.ts";

/** A sentence about the config fields that a preset of this dialect does not keep; empty if it keeps all of them. */
export function droppedFieldsNote(sent: string, stored: object, dialect: Dialect): string {
  const dropped = membersOf(sent).flatMap(({ key, text }) => (key in stored || text === "null" ? [] : key));
  if (dropped.length === 0) return "";
  return ` Not kept, because ${dialect} presets have no such field: ${dropped.join(", ")}.`;
}

/** The same for a config that has not been sent yet. */
export function unkeptFieldsNote(config: string, dialect: Dialect): string {
  return droppedFieldsNote(config, Object.fromEntries(keptFields[dialect].map((name) => [name, true])), dialect).trim();
}

/** The same for a draft, before it is saved. */
export function DroppedFields({ draft }: { readonly draft: Draft }) {
  const note = unkeptFieldsNote(draft.config, dialectOf(draft.base));
  return note === "" ? null : <p class="notice wrap">{note}</p>;
}
