import { dialectOf } from "../../api/presets.ts";
import type { Dialect } from "../../api/types.ts";
import { membersOf } from "../../json/json-pieces.ts";
import { contentOf, type Draft } from "./draft.ts";

/** A sentence about the fields of a config that a preset of this dialect does not keep; empty if it kept all. */
export function droppedFieldsNote(sent: string, stored: object, dialect: Dialect): string {
  const dropped = membersOf(sent).flatMap(({ key, text }) => (key in stored || text === "null" ? [] : key));
  if (dropped.length === 0) return "";
  return ` Not kept, because ${dialect} presets have no such field: ${dropped.join(", ")}.`;
}

/** The same of a draft, before it is saved. */
export function DroppedFields({ draft }: { readonly draft: Draft }) {
  const note = droppedFieldsNote(draft.config, JSON.parse(contentOf(draft).config), dialectOf(draft.base));
  return note === "" ? null : <p class="notice wrap">{note}</p>;
}
