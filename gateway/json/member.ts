import type { FastifyReply } from "fastify";
import { type Member, MemberRole } from "../../proto/gen/setpoint/organization/v1/member_pb.ts";
import { namer } from "./enum-names.ts";
import { sendData } from "./send.ts";

/** The public name of each role. */
export const roleByName = { "org:admin": MemberRole.ADMIN, "org:member": MemberRole.MEMBER } as const;

const roleNameOf = namer(roleByName);

export function memberJson(member: Member): string {
  return JSON.stringify({
    id: member.id,
    email: member.email,
    first_name: member.firstName ?? null,
    last_name: member.lastName ?? null,
    role: roleNameOf(member.role),
  });
}

export function sendMember(reply: FastifyReply, member: Member | undefined): FastifyReply {
  if (!member) throw new Error("The organization service answered without a member");
  return sendData(reply, memberJson(member));
}
