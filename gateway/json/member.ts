import { type Member, MemberRole } from "../../proto/gen/setpoint/organization/v1/member_pb.ts";

const roleNames: Readonly<Record<number, string>> = {
  [MemberRole.ADMIN]: "org:admin",
  [MemberRole.MEMBER]: "org:member",
};

export function memberJson(member: Member): string {
  return JSON.stringify({
    id: member.id,
    email: member.email,
    first_name: member.firstName ?? null,
    last_name: member.lastName ?? null,
    role: roleNames[member.role] ?? null,
  });
}
