import { expect, it } from "vitest";
import { StalledAnswers } from "./stalled-answers.ts";

const roomForFour = 4 * 192 * 1024;

it("cuts off the one that has stalled longest among those of the key that has most", () => {
  const stalled = new StalledAnswers(roomForFour);
  const cutOff: string[] = [];
  const add = (keyId: string, name: string): void => {
    const answer = {
      keyId,
      cutOff: () => {
        cutOff.push(name);
        stalled.remove(answer);
      },
    };
    stalled.add(answer);
  };
  add("few", "few 1");
  for (const name of ["many 1", "many 2", "many 3"]) add("many", name);
  expect(cutOff).toEqual([]);
  add("few", "few 2");
  add("many", "many 4");
  expect(cutOff).toEqual(["many 1", "many 2"]);
});
