import { openBrace, openBracket } from "../../../services/platform/json/json-outline.ts";
import { eachMember, isNullAt, type JsonSource, type Place, textAt } from "../request/json-walk.ts";

/** A value within JSON text. It is inspected in place, and copied as text. */
export class JsonValue {
  readonly source: JsonSource;
  readonly place: Place;

  constructor(source: JsonSource, place: Place) {
    this.source = source;
    this.place = place;
  }

  get json(): string {
    return this.source.bytes.toString("utf8", this.place.start, this.place.end);
  }

  get isNull(): boolean {
    return isNullAt(this.source, this.place.start);
  }

  get isObject(): boolean {
    return this.source.bytes[this.place.start] === openBrace;
  }

  get isList(): boolean {
    return this.source.bytes[this.place.start] === openBracket;
  }

  /** The content of a string; undefined if it is not one. */
  get text(): string | undefined {
    return textAt(this.source, this.place.start, this.place.end, Number.POSITIVE_INFINITY);
  }

  /** The members of an object that have a value. Empty if it is not an object. */
  members(): Map<string, JsonValue> {
    const members = new Map<string, JsonValue>();
    if (!this.isObject) return members;
    const take = (key = "", place: Place) => {
      const value = new JsonValue(this.source, place);
      if (!value.isNull) members.set(key, value);
    };
    eachMember(this.source, this.place.start, take, Number.POSITIVE_INFINITY);
    return members;
  }
}
