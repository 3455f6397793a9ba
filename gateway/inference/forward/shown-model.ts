import { containsKey } from "../../../services/platform/auth/key-format.ts";

const shownLengthMax = 200;

/** A model's name as logs and traces show it, where it is the only text that a caller wrote. */
export function shownModel(model: string): string {
  return model.length > shownLengthMax || containsKey(model) ? "unknown" : model;
}
