import { isOfKind } from "../services/platform/domain/domain-error.ts";
import type { CallOptions } from "../services/platform/rpc/grpc-client.ts";

/** A call that is to be made. */
export interface Call<Request> {
  readonly request: Request;
  readonly options: CallOptions;
}

/** Makes several calls as one and returns the answer to each, or why that one failed, in the same order. */
type CallTogether<Request, Answer> = (calls: readonly Call<Request>[]) => Promise<readonly (Answer | Error)[]>;

interface Waiting<Request, Answer> extends Call<Request> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** As many as the two writers of the preset service write at once. */
const callsMax = 64;

/**
 * Gathers calls, because an RPC costs more than what it carries. There is no timer: calls go out with the first turn of the
 * event loop that brings no more of them, so a lone one waits for that turn alone, and under load, where many requests are read from
 * their sockets in each turn, they leave in full batches. They may be of different callers; each has its own access token.
 */
export function gatherCalls<Request, Answer extends object>(
  callTogether: CallTogether<Request, Answer>,
): (request: Request, options: CallOptions) => Promise<Answer> {
  let waiting: Waiting<Request, Answer>[] = [];

  const sendWhenQuiet = (countBefore: number): void => {
    if (waiting.length > countBefore && waiting.length < callsMax) {
      setImmediate(sendWhenQuiet, waiting.length);
      return;
    }
    const gathered = waiting;
    waiting = [];
    for (let start = 0; start < gathered.length; start += callsMax) {
      void send(gathered.slice(start, start + callsMax));
    }
  };

  const send = async (batch: readonly Waiting<Request, Answer>[]): Promise<void> => {
    try {
      const answers = await callTogether(batch);
      for (const [index, { resolve, reject }] of batch.entries()) {
        const answer = answers[index];
        if (answer === undefined || answer instanceof Error)
          reject(answer ?? new Error("A batch was answered in part"));
        else resolve(answer);
      }
    } catch (error) {
      // Where one call may have failed all, each is made alone, so that nobody pays for another's.
      const isForAll = batch.length === 1 || isOfKind(error, "unavailable", "deadline_exceeded");
      for (const call of batch) isForAll ? call.reject(error) : void send([call]);
    }
  };

  return (request, options) =>
    new Promise((resolve, reject) => {
      waiting.push({ request, options, resolve, reject });
      if (waiting.length === 1) setImmediate(sendWhenQuiet, 0);
    });
}

/** The same for reads: what one caller asks several times at once is fetched once. */
export function gatherAlike<Request, Answer extends object>(
  callTogether: CallTogether<Request, Answer>,
): (request: Request, options: CallOptions) => Promise<Answer> {
  const keyOf = ({ request, options }: Call<Request>) => `${options.accessToken} ${JSON.stringify(request)}`;
  return gatherCalls(async (calls) => {
    const keys = calls.map(keyOf);
    const alike = Map.groupBy(calls, (_, index) => keys[index]);
    const answers = await callTogether([...alike.values()].map(asOne));
    const answersByKey = new Map([...alike.keys()].map((key, index) => [key, answers[index] as Answer | Error]));
    return keys.map((key) => answersByKey.get(key) as Answer | Error);
  });
}

/** Its request ids are told apart by another sign than those of the parts of a batch. */
function asOne<Request>(alike: readonly Call<Request>[]): Call<Request> {
  const [first] = alike as [Call<Request>];
  return alike.length === 1 ? first : { request: first.request, options: optionsTogether(alike, "|") };
}

/** For what has no batch: makes each call by itself. */
export function callEach<Request, Answer>(
  call: (request: Request, options: CallOptions) => Promise<Answer>,
): CallTogether<Request, Answer> {
  return (calls) =>
    Promise.all(calls.map(({ request, options }) => call(request, options).catch((error: Error) => error)));
}

/** What goes with several calls as one: the earliest deadline holds for all; the log of the service names every request. */
export function optionsTogether(calls: readonly Call<unknown>[], separator = ","): CallOptions {
  const [first] = calls as [Call<unknown>];
  return {
    ...first.options,
    requestId: calls.map(({ options }) => options.requestId).join(separator),
    deadlineMs: Math.min(...calls.map(({ options }) => options.deadlineMs)),
  };
}

/** Whether one access token, that of the first, which goes with the RPC, stands for all. */
export function areOfOne(calls: readonly Call<unknown>[]): boolean {
  return calls.every(({ options }) => options.accessToken === calls[0]?.options.accessToken);
}
