import { hash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { PrincipalSchema } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { keyFromBytes, secretFromBytes } from "../../services/platform/auth/key-format.ts";
import { newId } from "../../services/platform/domain/ids.ts";
import { mayBeOfKey } from "./named-key.ts";

const [keyId, organizationId] = [newId(), newId()];
const admin = create(PrincipalSchema, { keyId: newId(), organizationId });
const owner = create(PrincipalSchema, { keyId, organizationId });
const colleague = create(PrincipalSchema, { keyId: newId(), organizationId });
const stranger = create(PrincipalSchema, { keyId: newId(), organizationId: newId() });
const [secret, other] = [keyFromBytes(Buffer.alloc(32, 1)), keyFromBytes(Buffer.alloc(32, 2))];
const session = secretFromBytes("session", Buffer.alloc(32, 3));
const secretHash = hash("sha256", secret);

it.each([
  ["its id names it", keyId, owner, secret, true],
  ["its id names it in capital letters", keyId.toUpperCase(), owner, secret, true],
  ["the hash of another of its secrets was given", hash("sha256", other), owner, secret, false],
  ["the hash of this secret was given", secretHash, owner, secret, true],
  ["its hash was given in capital letters", secretHash.toUpperCase(), owner, secret, true],
  ["another key of the organization was named", keyId, colleague, other, false],
  ["its id was given, and it is a session", keyId, owner, session, true],
  ["the id of another key was given, and it is a session", keyId, colleague, session, false],
  ["it is a session in the organization", secretHash, colleague, session, true],
  ["it is a session in another organization", secretHash, stranger, session, false],
])("decides whether a secret may belong to the named key if %s", (_name, name, principal, given, expected) => {
  expect(mayBeOfKey(name, admin)(principal, given)).toBe(expected);
});
