import { jsonLanguage } from "@codemirror/lang-json";
import { expect, it } from "vitest";
import { findPlace } from "./find-place.ts";

const text = '{"tools":[{"name":"a"},null,{"name":"b","tags":["x",[1,2]]}],"metadata":{"a b":1,"0":2},"stop":"z"}';

it.each([
  ["tools[1]", "null"],
  ["tools[2].name", '"name":"b"'],
  ["tools[2].tags[1][0]", "1"],
  ['metadata["a b"]', '"a b":1'],
  ["metadata.0", '"0":2'],
  // As far as it exists.
  ["tools[7].name", text.slice(1, text.indexOf(',"metadata"'))],
  ["stop.length", '"stop":"z"'],
])("the place of %s in a config is %s", (path, place) => {
  const found = findPlace(jsonLanguage.parser.parse(text).topNode, ({ from, to }) => text.slice(from, to), path);
  expect(found && text.slice(found.from, found.to)).toBe(place);
});
