import { type Answer, requestRaw } from "./rest.ts";

/** What the console shows about who is signed in. */
interface SessionJson {
  readonly user_id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly organization: { readonly id: string; readonly name: string };
  readonly key: { readonly id: string; readonly label: string; readonly kind: string; readonly permissions: string[] };
  readonly workspace_id: string | null;
  readonly workspaces: readonly { readonly id: string; readonly slug: string; readonly name: string }[];
  readonly expires_at: string;
}

type Headers = Readonly<Record<string, string | undefined>>;

interface BrowserParts {
  /** Replace the headers that the console's page sends; undefined removes one. */
  readonly headers?: Headers;
  readonly body?: unknown;
}

/** What a browser sends with a request from the console's own page. */
const ownRead = { "sec-fetch-site": "same-origin" };

/** A browser with the console open: sends what its pages send, and stores the cookie that it gets. */
export class Browser {
  readonly #baseUrl: string;
  cookie: string | undefined;

  constructor(baseUrl: string, cookie?: string) {
    this.#baseUrl = baseUrl;
    this.cookie = cookie;
  }

  /** Another browser with the same cookie. */
  clone(baseUrl = this.#baseUrl): Browser {
    return new Browser(baseUrl, this.cookie);
  }

  async send<Data>(method: string, path: string, { headers, body }: BrowserParts = {}): Promise<Answer<Data>> {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const all: Headers = {
      ...ownRead,
      ...(method === "GET" ? {} : { "x-setpoint-console": "1" }),
      ...(text === undefined ? {} : { "content-type": "application/json", "content-length": String(text.length) }),
      cookie: this.cookie,
      ...headers,
    };
    const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const answer = await requestRaw(method, this.#baseUrl, path, {
      headers: Object.fromEntries(sent),
      chunks: text === undefined ? [] : [text],
    });
    const set = answer.headers.get("set-cookie");
    if (set !== null) this.cookie = set.includes("Max-Age=0") ? undefined : set.split(";")[0];
    return answer as unknown as Answer<Data>;
  }

  signIn(credential: object, headers: Headers = {}): Promise<Answer<SessionJson>> {
    return this.send("POST", "/console/session", { body: credential, headers });
  }

  session(headers: Headers = {}): Promise<Answer<SessionJson>> {
    return this.send("GET", "/console/session", { headers });
  }

  signOut(headers: Headers = {}): Promise<Answer<undefined>> {
    return this.send("DELETE", "/console/session", { headers });
  }
}
