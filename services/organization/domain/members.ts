import { randomInt } from "node:crypto";
import { base62Digits } from "../../platform/auth/key-format.ts";
import { type FieldViolation, invalidRequest } from "../../platform/domain/domain-error.ts";
import { emailLengthMax } from "../../platform/domain/limits.ts";
import { isLongerThan } from "../../platform/domain/text-violations.ts";
import type { LoggedFields } from "./changes.ts";
import { nameViolations } from "./field-rules.ts";

export const memberRoles = ["org:admin", "org:member"] as const;
export type MemberRole = (typeof memberRoles)[number];

/** A user as a member of one organization. */
export interface Member {
  readonly userId: string;
  readonly email: string;
  readonly firstName: string | undefined;
  readonly lastName: string | undefined;
  readonly role: MemberRole;
  /** When the membership began. */
  readonly createdAt: Date;
}

/** Someone who is to become a member. */
export type NewMember = Pick<Member, "email" | "firstName" | "lastName" | "role">;

/** What a caller wants to change of a member. A field that is absent stays as it is; one that is undefined is removed. */
export type MemberUpdate = Partial<Pick<Member, "role" | "firstName" | "lastName">>;

/** Throws if a field breaks its rule; all violations at once. */
export function checkMember(fields: Partial<NewMember>): void {
  const { email, firstName, lastName } = fields;
  const violations: FieldViolation[] = [
    ...(email === undefined || isEmail(email)
      ? []
      : [{ path: "email", message: `must be an e-mail address of at most ${emailLengthMax} characters` }]),
    ...(firstName === undefined ? [] : nameViolations("first_name", firstName)),
    ...(lastName === undefined ? [] : nameViolations("last_name", lastName)),
  ];
  if (violations.length > 0) throw invalidRequest(violations);
}

/** What the change log shows of a member. */
export function loggedMember(member: Member): LoggedFields {
  return {
    email: member.email,
    first_name: member.firstName ?? null,
    last_name: member.lastName ?? null,
    role: member.role,
  };
}

const userIdDigits = 27;

/** `user_` and 160 random bits. */
export function newUserId(): string {
  return `user_${Array.from({ length: userIdDigits }, () => base62Digits.charAt(randomInt(62))).join("")}`;
}

/**
 * Whether a text can be the id of a user at all. Others are not looked up: the column could not be compared with them.
 */
export function isUserId(text: string): boolean {
  return /^\w{1,64}$/.test(text);
}

/** Whether a text looks like an e-mail address; only sending mail shows whether it exists. */
export function isEmail(text: string): boolean {
  // Some characters become two or three in the key.
  const isShort = [text, emailKey(text)].every((each) => !isLongerThan(each, emailLengthMax));
  return isShort && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(text);
}

/** Spellings of the same address have the same key. */
export function emailKey(email: string): string {
  return email.normalize("NFC").toLowerCase();
}
