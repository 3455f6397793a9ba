import { isName } from "./shown-name.ts";

/** Where an answer names its model: at the top level, or in the object of the first event of a stream. */
const places = new Set(["model", "message.model", "response.model"]);

/**
 * The model that an answer names, given the beginning of a JSON text or of a stream of events; undefined if this part
 * does not name it. The text is parsed and not searched, because generated text may look like it.
 */
export function modelIn(text: string): string | undefined {
  if (/^\s*\{/.test(text)) return modelOfObject(text, text.indexOf("{"));
  for (const { index, 0: start } of text.matchAll(/(?:^|[\r\n])data: *(?=\{)/g)) {
    const model = modelOfObject(text, index + start.length);
    if (model !== undefined) return model;
  }
  return undefined;
}

const token = /"(?:[^"\\\n]|\\.)*"|[{}[\]:,]/g;

function modelOfObject(text: string, from: number): string | undefined {
  /** The keys of the open objects, and a bracket for each open list. */
  const path: string[] = [];
  let member: string | undefined;
  let isValue = false;
  token.lastIndex = from;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [sign] = found;
    switch (sign) {
      case "{":
      case "[":
        path.push(sign === "{" ? (member ?? "") : "[");
        member = undefined;
        isValue = false;
        break;
      case "}":
      case "]":
        path.pop();
        if (path.length === 0) return undefined;
        isValue = false;
        break;
      case ":":
        isValue = true;
        break;
      case ",":
        member = undefined;
        isValue = false;
        break;
      default: {
        const value = sign.slice(1, -1);
        if (!isValue) member = value;
        else if (places.has([...path.slice(1), member].join("."))) return isName(value) ? value : undefined;
      }
    }
  }
  return undefined;
}
