import { expect, it } from "vitest";
import { contractFiles } from "../../test/support/contract.ts";
import { dialectByName } from "../dialects/dialect-name.ts";
import { kindByName } from "./key.ts";
import { roleByName } from "./member.ts";
import { actionByName, targetKindByName } from "./organization-change.ts";
import { presetActionByName, statusByName } from "./preset.ts";

/** The tables of public names, by the enums of the contract that they name. */
const tables: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "setpoint.organization.v1.ChangeTargetKind": targetKindByName,
  "setpoint.organization.v1.KeyKind": kindByName,
  "setpoint.organization.v1.MemberRole": roleByName,
  "setpoint.organization.v1.OrganizationChangeAction": actionByName,
  "setpoint.preset.v1.Dialect": dialectByName,
  "setpoint.preset.v1.PresetChangeAction": presetActionByName,
  "setpoint.preset.v1.PresetStatus": statusByName,
};

const enums = (await contractFiles()).flatMap((file) => file.enums);

it("there are public names for every enum of the contract", () => {
  const ours = enums.map(({ typeName }) => typeName).filter((name) => name.startsWith("setpoint."));
  expect(ours.sort()).toEqual(Object.keys(tables));
});

it.each(Object.entries(tables))("every value of %s has a public name", (typeName, table) => {
  const values = enums.find((each) => each.typeName === typeName)?.values ?? [];
  const unnamed = values.filter(({ number }) => number !== 0 && !Object.values(table).includes(number));
  expect(unnamed.map(({ name }) => name)).toEqual([]);
});
