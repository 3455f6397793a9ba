export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** A request that the API refused, or that did not reach it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  readonly issues: readonly Issue[];
  readonly requestId: string | undefined;
  /** The upstream that the message comes from; undefined if it is the gateway's own. */
  readonly upstream: string | undefined;

  constructor(status: number, message: string, issues: readonly Issue[] = [], requestId?: string, upstream?: string) {
    super(message);
    this.status = status;
    this.issues = issues;
    this.requestId = requestId;
    this.upstream = upstream;
  }
}

interface ErrorBody {
  readonly error?: {
    readonly message?: string;
    readonly metadata?: { readonly issues?: readonly Issue[]; readonly request_id?: string };
  };
}

export async function apiErrorFrom(response: Response): Promise<ApiError> {
  // A proxy between the browser and the gateway may have answered, with a body that is not the API's.
  const body = (await response.json().catch(() => null)) as ErrorBody | null;
  const { message, metadata } = body?.error ?? {};
  // The gateway's own errors about an upstream carry a request id; an upstream's errors are passed on unchanged.
  const asked = response.headers.get("x-setpoint-upstream") ?? undefined;
  const upstream = metadata?.request_id === undefined ? asked : undefined;
  const unsaid = upstream === undefined ? `The gateway answered with status ${response.status}.` : "It gave no reason.";
  const requestId = response.headers.get("x-request-id") ?? undefined;
  return new ApiError(response.status, message ?? unsaid, metadata?.issues ?? [], requestId, upstream);
}

/** Turns anything that was thrown into an error that can be shown. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  console.error(error);
  return new ApiError(
    0,
    "Something went wrong in the console. Reload the page; if it happens again, report what you did.",
  );
}
