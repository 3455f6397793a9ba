import { describe, expect, it } from "vitest";
import { DomainError, type ErrorKind, invalidRequest } from "../../services/platform/domain/domain-error.ts";
import { errorAnswer } from "./errors.ts";
import { HttpError, nothingFoundAt, tooManyRequests } from "./http-error.ts";

function answerTo(thrown: unknown) {
  const { body, ...answer } = errorAnswer(thrown, "request-1");
  return { ...answer, error: JSON.parse(body).error };
}

function domainError(kind: ErrorKind, reason = "REASON"): DomainError {
  return new DomainError(kind, { reason, message: "A sentence.", cause: new Error("10.0.0.1 refused") });
}

describe("errorAnswer", () => {
  it.each<[ErrorKind, number]>([
    ["invalid_argument", 400],
    ["unauthenticated", 401],
    ["permission_denied", 403],
    ["not_found", 404],
    ["already_exists", 409],
    ["aborted", 409],
    ["failed_precondition", 409],
    ["resource_exhausted", 429],
    ["unavailable", 503],
    ["deadline_exceeded", 503],
    ["canceled", 500],
    ["unimplemented", 500],
    ["internal", 500],
  ])("answers %s with %d", (kind, status) => {
    const answer = answerTo(domainError(kind));
    expect(answer.status).toBe(status);
    expect(answer.error).toMatchObject({ code: status, metadata: { request_id: "request-1" } });
  });

  it.each<[ErrorKind, string | undefined]>([
    ["unauthenticated", "false"],
    ["already_exists", "false"],
    ["failed_precondition", "false"],
    ["aborted", undefined],
  ])("tells clients whether to retry %s", (kind, retry) => {
    expect(answerTo(domainError(kind)).headers["x-should-retry"]).toBe(retry);
  });

  it("answers a stale etag with 412", () => {
    expect(answerTo(domainError("failed_precondition", "ETAG_STALE"))).toMatchObject({ status: 412 });
  });

  it.each(["SLUG_TAKEN", "WORKSPACE_IS_DEFAULT", "WORKSPACE_HAS_KEYS", "WORKSPACE_MEMBER_HAS_KEYS"])(
    "answers %s with 400, as OpenRouter clients expect for workspaces",
    (reason) => {
      expect(answerTo(domainError("failed_precondition", reason))).toMatchObject({ status: 400, error: { code: 400 } });
    },
  );

  it("names a field as the REST API does, also in the message", () => {
    const { error } = answerTo(invalidRequest([{ path: "expire_time", message: "must be in the future" }]));
    expect(error.message).toBe("expires_at must be in the future");
    expect(error.metadata.issues).toEqual([{ path: "expires_at", message: "must be in the future" }]);
  });

  it("passes on the metadata of an error", () => {
    const made = new DomainError("already_exists", { reason: "MADE", message: "Made.", metadata: { hash: "ab" } });
    expect(answerTo(made)).toMatchObject({ status: 409, error: { metadata: { hash: "ab", request_id: "request-1" } } });
  });

  it("passes on the message of an error", () => {
    expect(answerTo(domainError("not_found")).error.message).toBe("A sentence.");
  });

  it.each(["unavailable", "deadline_exceeded", "internal", "canceled", "unimplemented"] as const)(
    "reveals nothing internal of %s",
    (kind) => {
      expect(JSON.stringify(answerTo(domainError(kind)))).not.toMatch(/A sentence|REASON|10\.0\.0\.1/);
    },
  );

  it.each([
    ["an error", new Error("secret")],
    ["an unknown Fastify error", Object.assign(new Error("secret"), { code: "FST_ERR_UNHEARD_OF" })],
    ["an error with its own code", Object.assign(new Error("secret"), { code: "ER_DUP_ENTRY", statusCode: 400 })],
    ["a string", "secret"],
    ["nothing", undefined],
  ])("answers %s with 500 and reveals nothing of it", (_name, thrown) => {
    const answer = answerTo(thrown);
    expect(answer).toMatchObject({ status: 500, headers: {} });
    expect(answer.error.message).not.toContain("secret");
  });

  it.each(["unavailable", "deadline_exceeded", "resource_exhausted"] as const)("tells when to retry %s", (kind) => {
    expect(answerTo(domainError(kind)).headers).toMatchObject({ "retry-after": "1" });
  });

  it("reports no remaining quota for a service's limit", () => {
    expect(answerTo(domainError("resource_exhausted")).headers).toMatchObject({
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": "1",
    });
  });

  it("asks to wait at least a second", () => {
    const allowance = { limit: 5, remaining: 0, nextInSeconds: 0, fullInSeconds: 1 };
    expect(tooManyRequests("Wait.", allowance)).toMatchObject({
      status: 429,
      headers: {
        "retry-after": "1",
        "x-ratelimit-limit": "5",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": "1",
      },
    });
  });

  it("lists every violation, and only if there are any", () => {
    const violations = [
      { path: "temperature", message: "must be at most 2" },
      { path: "top_p", message: "must be a number" },
    ];
    expect(answerTo(invalidRequest(violations)).error).toEqual({
      code: 400,
      message: "temperature must be at most 2 (and 1 more)",
      metadata: { request_id: "request-1", issues: violations },
    });
    expect(answerTo(domainError("not_found")).error.metadata).toEqual({ request_id: "request-1" });
  });

  it.each([
    ["FST_ERR_BAD_URL", 400],
    ["FST_ERR_CTP_INVALID_CONTENT_LENGTH", 400],
    ["FST_ERR_CTP_INVALID_MEDIA_TYPE", 415],
  ])("has its own message for %s", (code, status) => {
    const answer = answerTo(Object.assign(new Error("of Fastify"), { code }));
    expect(answer.status).toBe(status);
    expect(answer.error.message).not.toContain("Fastify");
  });

  it("answers an HTTP error with its status and headers", () => {
    expect(answerTo(new HttpError(405, "This path takes GET.", { allow: "GET" }))).toEqual({
      status: 405,
      headers: { allow: "GET" },
      error: { code: 405, message: "This path takes GET.", metadata: { request_id: "request-1" } },
    });
  });
});

describe("nothingFoundAt", () => {
  it.each([
    ["/v1/chat/completions", "Did you mean /api/v1/chat/completions? Check the base URL of your client."],
    ["/api/messages?beta=true", "Did you mean /api/v1/messages? Check the base URL of your client."],
    ["/api/v1/v1/messages", "Did you mean /api/v1/messages? Check the base URL of your client."],
    ["//api/v1/messages", "Did you mean /api/v1/messages? Check the base URL of your client."],
    ["/responses/", "Did you mean /api/v1/responses? Check the base URL of your client."],
    ["/v1/models", "Did you mean /api/v1/models? Check the base URL of your client."],
    ["/v1/messages/count_tokens", "Did you mean /api/v1/messages/count_tokens? Check the base URL of your client."],
    ["/api/v1/api/v1/messages", "Did you mean /api/v1/messages? Check the base URL of your client."],
    ["/api/v1/messages/v1/messages", "Did you mean /api/v1/messages? Check the base URL of your client."],
    [
      "/api/v1/chat/completions/chat/completions",
      "Did you mean /api/v1/chat/completions? Check the base URL of your client.",
    ],
    ["/api/v1/chat/completions/models", "Did you mean /api/v1/models? Check the base URL of your client."],
    ["/presets", "Did you mean /api/v1/presets? Check the base URL of your client."],
    ["/v1/presets/a/versions/1", "Did you mean /api/v1/presets/a/versions/1? Check the base URL of your client."],
    ["/v1/organization/members", "Did you mean /api/v1/organization/members? Check the base URL of your client."],
    ["/api/v1/messages/batches", "Only inference and token counts are sent on: call the upstream itself."],
    ["/api/v1/responses/resp_1/cancel", "Only inference and token counts are sent on: call the upstream itself."],
    ["/api/v1/presets/a/b/messages", "See /docs for what there is."],
    ["/api/v1/embeddings", "See /docs for what there is."],
    ["/", "See /docs for what there is."],
  ])("suggests a path for %s", (url, hint) => {
    expect(nothingFoundAt(url).message).toBe(`There is nothing at ${url.split("?")[0]}. ${hint}`);
  });
});
