import { DomainError } from "../../platform/domain/domain-error.ts";

/** One and the same answer whatever is wrong with a key, so that it tells nothing about keys that exist. */
export function keyInvalid(): DomainError {
  return new DomainError("unauthenticated", {
    reason: "KEY_INVALID",
    message: "This key is not valid. Check the key or create a new one.",
  });
}

export function workspaceNotFound(): DomainError {
  return new DomainError("not_found", {
    reason: "WORKSPACE_NOT_FOUND",
    message:
      "This key reaches no workspace with this id. Check the id, or leave it out to use the key's own workspace.",
  });
}
