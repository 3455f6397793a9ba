import { describe, expect, it } from "vitest";
import { withoutQuotedValues, withoutValues } from "./error-text.ts";

const tablet = "target: setpoint_preset.-40.primary: vttablet: rpc error:";
const bound = `: Sql: "insert into preset_versions(system_prompt) values (:vtg1 /* VARCHAR */)", BindVars: {vtg1: "type:VARCHAR value:\\"SECRET\\""}`;

describe("the loggable message of a database error", () => {
  it.each([
    [
      `${tablet} code = AlreadyExists desc = Duplicate entry 'SECRET' for key 'presets.presets_id' (errno 1062) (sqlstate 23000) (CallerID: setpoint)${bound}`,
      `${tablet} code = AlreadyExists desc = Duplicate entry '…' for key 'presets.presets_id' (errno 1062) (sqlstate 23000)`,
    ],
    [
      `${tablet} code = Aborted desc = Row count exceeded 10000 (errno 10001) (sqlstate HY000) (CallerID: user)${bound}`,
      `${tablet} code = Aborted desc = Row count exceeded 10000 (errno 10001) (sqlstate HY000) (CallerID: user)`,
    ],
    [
      `${tablet} code = NotFound desc = Table 'vt_setpoint.presets' doesn't exist (errno 1146) (sqlstate 42S02) (CallerID: user)${bound}`,
      `${tablet} code = NotFound desc = Table 'vt_setpoint.presets' doesn't exist (errno 1146) (sqlstate 42S02) (CallerID: user)`,
    ],
    [
      `${tablet} code = Unknown desc = Lost connection (errno 2013) (sqlstate HY000) during query: insert into presets values ('SECRET')`,
      `${tablet} code = Unknown desc = Lost connection (errno 2013) (sqlstate HY000) `,
    ],
    [
      `${tablet} code = Canceled desc = (errno 1317) (sqlstate 70100) (CallerID: user), Sql: "SECRET", BindVars: {}\n${tablet} code = Canceled${bound}`,
      `${tablet} code = Canceled desc = (errno 1317) (sqlstate 70100) (CallerID: user)`,
    ],
    [`missing bind var v3, BindVars: {v1: "SECRET"}`, "missing bind var v3"],
    ["syntax error at position 57 near 'SECRET'", "syntax error at position 57 near '…'"],
    [
      "You have an error in your SQL syntax; check the manual for the right syntax to use near 'it's the SECRET', 'more SECRET' at line 3",
      "You have an error in your SQL syntax; check the manual for the right syntax to use near '…' at line 3",
    ],
    ["Duplicate entry 'a' for key 'SECRET 1' for key 'slug'", "Duplicate entry '…' for key 'slug'"],
    ["Duplicate entry 'SECRET: Sql: \"x' for key 'slug'", "Duplicate entry '…'"],
    [
      "Incorrect string value: '\\xF0\\x9FSECRET' for column `setpoint`.`presets`.`name` at row 1",
      "Incorrect string value: '…' for column `setpoint`.`presets`.`name` at row 1",
    ],
    [`vtgate: strconv.ParseInt: parsing "SECRET": invalid syntax`, "vtgate: strconv.ParseInt: parsing '…'"],
    ["Truncated incorrect DOUBLE value: 'SECRET'", "Truncated incorrect DOUBLE value: '…'"],
    ["Data too long for column 'name' at row 1", "Data too long for column 'name' at row 1"],
    ["Unknown column 'v.dialect' in 'field list'", "Unknown column 'v.dialect' in '…'"],
    [
      "Access denied for user 'preset'@'10.0.0.1' (using password: YES)",
      "Access denied for user 'preset'@'10.0.0.1' (using password: YES)",
    ],
    [
      "Lock wait timeout exceeded; try restarting transaction",
      "Lock wait timeout exceeded; try restarting transaction",
    ],
  ])("contains no values, and keeps the rest: %s", (message, expected) => {
    expect(withoutQuotedValues(message)).toBe(expected);
    expect(expected).not.toContain("SECRET");
  });

  it("is the same in every part of the error", () => {
    const text = `Duplicate entry 'SECRET' for key 'presets_id'${bound}`;
    const error = Object.assign(new Error(text), { errno: 1062, sqlMessage: text, sql: "INSERT 'SECRET'" });
    const safe = withoutValues(error, "INSERT ?");
    expect(JSON.stringify({ ...safe, message: safe.message, stack: safe.stack })).not.toContain("SECRET");
    const message = "Duplicate entry '…' for key 'presets_id'";
    expect(safe).toMatchObject({ message, sqlMessage: message, sql: "INSERT ?", errno: 1062 });
    expect(safe.stack).toContain(`${message}\n    at `);
  });
});
