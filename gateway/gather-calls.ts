import type { CallOptions } from "../services/platform/rpc/grpc-client.ts";

/** Makes several calls as one and returns the answer to each, or why that one failed, in the same order. */
type CallTogether<Request, Answer> = (
  requests: readonly Request[],
  options: CallOptions,
) => Promise<readonly (Answer | Error)[]>;

interface Waiting<Request, Answer> {
  readonly request: Request;
  readonly options: CallOptions;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Half of what the preset service writes at once. */
const callsMax = 16;

/**
 * Gathers the calls that one access token makes in the same turn of the event loop. Under load, many requests are read
 * from their sockets in one turn, and an RPC costs more than what it carries; a lone call goes out as it is, no later.
 */
export function gatherCalls<Request, Answer extends object>(
  callTogether: CallTogether<Request, Answer>,
): (request: Request, options: CallOptions) => Promise<Answer> {
  const waitingByToken = new Map<string, Waiting<Request, Answer>[]>();

  const flush = async (token: string): Promise<void> => {
    const waiting = waitingByToken.get(token) ?? [];
    waitingByToken.delete(token);
    for (let start = 0; start < waiting.length; start += callsMax) {
      void answer(waiting.slice(start, start + callsMax));
    }
  };

  const answer = async (waiting: readonly Waiting<Request, Answer>[]): Promise<void> => {
    try {
      const answers = await callTogether(
        waiting.map(({ request }) => request),
        optionsFor(waiting),
      );
      for (const [index, { resolve, reject }] of waiting.entries()) {
        const each = answers[index];
        if (each === undefined || each instanceof Error) reject(each ?? new Error("A batch was answered in part"));
        else resolve(each);
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  };

  return (request, options) =>
    new Promise((resolve, reject) => {
      const token = options.accessToken ?? "";
      const waiting = waitingByToken.get(token);
      const entry = { request, options, resolve, reject };
      if (waiting) {
        waiting.push(entry);
      } else {
        waitingByToken.set(token, [entry]);
        setImmediate(flush, token);
      }
    });
}

/** The same for reads: what one token asks several times in one turn is fetched once. */
export function gatherAlike<Request extends object, Answer extends object>(
  call: (request: Request, options: CallOptions) => Promise<Answer>,
): (request: Request, options: CallOptions) => Promise<Answer> {
  return gatherCalls<Request, Answer>((requests, options) => {
    const answers = new Map<string, Promise<Answer | Error>>();
    return Promise.all(
      requests.map((request) => {
        const key = JSON.stringify(request);
        const answer = answers.get(key) ?? call(request, options).catch((error: Error) => error);
        answers.set(key, answer);
        return answer;
      }),
    );
  });
}

/** The earliest deadline holds for all; the log of the service names every request. */
function optionsFor(waiting: readonly { readonly options: CallOptions }[]): CallOptions {
  const [first] = waiting as [{ readonly options: CallOptions }];
  if (waiting.length === 1) return first.options;
  return {
    ...first.options,
    requestId: waiting.map(({ options }) => options.requestId).join(","),
    deadlineMs: Math.min(...waiting.map(({ options }) => options.deadlineMs)),
  };
}
