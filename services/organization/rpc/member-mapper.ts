import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  MemberRole as MemberRoleMessage,
  type MemberSchema,
} from "../../../proto/gen/setpoint/organization/v1/member_pb.ts";
import type {
  AddMemberRequest,
  UpdateMemberRequest,
} from "../../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { invalidRequest } from "../../platform/domain/domain-error.ts";
import { fieldsOfMask } from "../../platform/rpc/field-mask.ts";
import { namesByNumber } from "../../platform/rpc/names-by-number.ts";
import type { Member, MemberRole, MemberUpdate, NewMember } from "../domain/members.ts";

export const roleMessages: Readonly<Record<MemberRole, MemberRoleMessage>> = {
  "org:admin": MemberRoleMessage.ADMIN,
  "org:member": MemberRoleMessage.MEMBER,
};

const rolesByMessage = namesByNumber(roleMessages);

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

export function fromAddMemberRequest(request: AddMemberRequest): NewMember {
  return {
    email: request.email,
    firstName: request.firstName,
    lastName: request.lastName,
    role: request.role === MemberRoleMessage.UNSPECIFIED ? "org:member" : fromRole(request.role),
  };
}

/** Reads only the fields that the mask names. */
export function fromUpdateMemberRequest(request: UpdateMemberRequest): MemberUpdate {
  return fieldsOfMask<MemberUpdate>(request.updateMask, {
    role: (violations) => {
      const role = rolesByMessage.get(request.role);
      if (role) return { role };
      violations.push(roleUnknown);
      return {};
    },
    first_name: () => ({ firstName: request.firstName }),
    last_name: () => ({ lastName: request.lastName }),
  });
}

const roleUnknown = { path: "role", message: "must be a known role" };

function fromRole(message: MemberRoleMessage): MemberRole {
  const role = rolesByMessage.get(message);
  if (!role) throw invalidRequest([roleUnknown]);
  return role;
}
