import { describe, expect, it } from "vitest";
import { type Member, nowhere, TransientSet } from "./transient-set.ts";

interface Named extends Member {
  readonly name: string;
}

function setOf(names: string) {
  const members = new Map([...names].map((name): [string, Named] => [name, { name, place: nowhere }]));
  const set = new TransientSet<Named>();
  for (const member of members.values()) set.add(member);
  return { set, member: (name: string) => members.get(name) as Named };
}

function namesIn(set: TransientSet<Named>): string {
  return Array.from(set, ({ name }) => name)
    .sort()
    .join("");
}

describe("a transient set", () => {
  it("contains a member once", () => {
    const { set, member } = setOf("abc");
    set.add(member("b"));
    expect([set.size, namesIn(set)]).toEqual([3, "abc"]);
  });

  it.each(["a", "b", "d", "ad", "da", "abc", "dcba"])("lacks %s once deleted, even twice", (gone) => {
    const { set, member } = setOf("abcd");
    for (const name of gone + gone) set.delete(member(name));
    expect(namesIn(set)).toBe([..."abcd"].filter((name) => !gone.includes(name)).join(""));
    expect(set.size).toBe(4 - gone.length);
  });

  it("accepts a member again", () => {
    const { set, member } = setOf("ab");
    set.delete(member("a"));
    set.add(member("a"));
    expect(namesIn(set)).toBe("ab");
  });

  it("iterates over each member once while members are deleted", () => {
    const { set, member } = setOf("abcdef");
    const shown: string[] = [];
    for (const each of set) {
      shown.push(each.name);
      set.delete(each);
      if (each.name === "e") for (const name of "ac") set.delete(member(name));
    }
    expect(shown.sort().join("")).toBe("bdef");
    expect(set.size).toBe(0);
  });
});
