import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { MemberRole, MemberSchema } from "../../proto/gen/setpoint/organization/v1/member_pb.ts";
import { memberJson } from "./member.ts";

describe("memberJson", () => {
  it("returns every field", () => {
    const member = create(MemberSchema, {
      id: "user_1",
      email: "ada@example.com",
      firstName: "Ada",
      lastName: 'O"Neil',
      role: MemberRole.ADMIN,
    });
    expect(JSON.parse(memberJson(member))).toEqual({
      id: "user_1",
      email: "ada@example.com",
      first_name: "Ada",
      last_name: 'O"Neil',
      role: "org:admin",
    });
  });

  it("returns null for unknown names", () => {
    const member = create(MemberSchema, { id: "user_1", email: "ada@example.com", role: MemberRole.MEMBER });
    expect(JSON.parse(memberJson(member))).toMatchObject({ first_name: null, last_name: null, role: "org:member" });
  });
});
