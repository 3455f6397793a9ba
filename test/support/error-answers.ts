import { expect } from "vitest";
import { jsonType } from "./patterns.ts";
import type { Answer } from "./rest.ts";

/** Fails if an answer is not an error in our shape; one without issues, unless these are given. */
export function expectError({ status, headers, json, text }: Answer<unknown>, code: number, metadata?: object): void {
  expect(status, text).toBe(code);
  expect(headers.get("content-type")).toMatch(jsonType);
  expect(json).toEqual({
    error: {
      code,
      message: expect.stringMatching(/\w/),
      metadata: { request_id: headers.get("x-request-id"), ...metadata },
    },
  });
}
