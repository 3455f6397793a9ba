import type { IncomingMessage } from "node:http";
import { type FieldViolation, invalidRequest } from "../../services/platform/domain/domain-error.ts";
import { isPlainTransfer } from "../../services/platform/http/transfer-encoding.ts";
import { HttpError } from "../json/http-error.ts";

/** The only expectation that exists, with Node's own pattern. */
const continueExpectation = /(?:^|\W)100-continue(?:$|\W)/i;

/** HTTP's rules for the headers of any request, on any path. */
export function checkHeaders({ headers, rawHeaders, httpVersion }: IncomingMessage): void {
  let hosts = 0;
  let authorizations = 0;
  // Node keeps the first of each and ignores the others. Lengths are compared first, because this runs for every
  // request.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
    else if (name.length === 13 && name.toLowerCase() === "authorization") authorizations++;
  }
  const isModern = httpVersion === "1.1";
  if (hosts > 1 || authorizations > 1 || (isModern && hosts === 0)) {
    throw invalidRequest(headerViolations(hosts, authorizations, isModern));
  }
  if (isModern && headers.expect !== undefined && !continueExpectation.test(headers.expect)) {
    throw new HttpError(417, "The only Expect header that is supported is `100-continue`.");
  }
  // HTTP suggests 501 here, but clients retry that.
  if (!isPlainTransfer(headers["transfer-encoding"])) {
    throw invalidRequest([{ path: "Transfer-Encoding", message: "must be `chunked`, or not be given" }]);
  }
}

function headerViolations(hosts: number, authorizations: number, isModern: boolean): FieldViolation[] {
  const violations: FieldViolation[] = [];
  if (hosts > 1) violations.push({ path: "Host", message: "must be given once" });
  if (hosts === 0 && isModern) violations.push({ path: "Host", message: "is required" });
  if (authorizations > 1) violations.push({ path: "Authorization", message: "must be given once" });
  return violations;
}
