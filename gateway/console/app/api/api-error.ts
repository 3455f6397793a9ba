export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** A refusal of the API, or a request that did not reach it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
  readonly issues: readonly Issue[];
  readonly requestId: string | undefined;
  /** The upstream whose words the message is; undefined where it is the gateway's own. */
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
  // Something between the browser and the gateway may have answered, with a body that is not the API's.
  const body = (await response.json().catch(() => null)) as ErrorBody | null;
  const { message, metadata } = body?.error ?? {};
  // What the gateway says of an upstream has a request id in it; what an upstream says is passed on as it is.
  const asked = response.headers.get("x-setpoint-upstream") ?? undefined;
  const upstream = metadata?.request_id === undefined ? asked : undefined;
  const unsaid =
    upstream === undefined ? `The gateway answered with status ${response.status}.` : "It does not say why.";
  const requestId = response.headers.get("x-request-id") ?? undefined;
  return new ApiError(response.status, message ?? unsaid, metadata?.issues ?? [], requestId, upstream);
}

/** Anything that was thrown, as something that can be shown. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  console.error(error);
  return new ApiError(
    0,
    "Something went wrong in the console. Reload the page; if it happens again, report what you did.",
  );
}
