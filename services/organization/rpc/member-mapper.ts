import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  MemberRole as MemberRoleMessage,
  type MemberSchema,
} from "../../../proto/gen/setpoint/organization/v1/member_pb.ts";
import type { Member, MemberRole } from "../domain/members.ts";

const roleMessages: Readonly<Record<MemberRole, MemberRoleMessage>> = {
  "org:admin": MemberRoleMessage.ADMIN,
  "org:member": MemberRoleMessage.MEMBER,
};

export function toMemberMessage(member: Member): MessageInitShape<typeof MemberSchema> {
  return {
    id: member.userId,
    email: member.email,
    firstName: member.firstName,
    lastName: member.lastName,
    role: roleMessages[member.role],
    createTime: timestampFromDate(member.createdAt),
  };
}
