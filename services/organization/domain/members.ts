import { randomInt } from "node:crypto";
import { base62Digits } from "../../platform/auth/key-format.ts";

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

export interface MemberPage {
  readonly members: readonly Member[];
  /** How many members the organization has, not how many are on this page. */
  readonly totalCount: number;
}

const userIdDigits = 27;

/** `user_` and 160 bits of chance. */
export function newUserId(): string {
  return `user_${Array.from({ length: userIdDigits }, () => base62Digits.charAt(randomInt(62))).join("")}`;
}

const emailLengthMax = 320;

/** Whether a text looks like an address; whether mail arrives there, only mail can tell. */
export function isEmail(text: string): boolean {
  return [...text].length <= emailLengthMax && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(text);
}

/** Two spellings of one address have the same key. */
export function emailKey(email: string): string {
  return email.normalize("NFC").toLowerCase();
}
