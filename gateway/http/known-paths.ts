import type { FastifyInstance, FastifyRequest } from "fastify";
import findMyWay from "find-my-way";
import type { ErrorShape } from "../json/errors.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set if the path has routes, but none for the method of this request. */
    knownPath: KnownPath | undefined;
  }
}

/** A path that has routes. */
interface KnownPath {
  /** With the names of its parameters, as in its routes. */
  readonly url: string;
  readonly methods: Set<string>;
  errorShape: ErrorShape | undefined;
}

type RouterOptions = NonNullable<Parameters<typeof findMyWay>[0]>;

/**
 * The paths of all routes, whatever their methods. Fastify's own router keeps the routes of each method apart, so it
 * cannot tell a path that does not exist from one that does not take the method.
 */
export class KnownPaths {
  readonly #router: ReturnType<typeof findMyWay>;
  readonly #paths = new Map<string, KnownPath>();

  /** With the options of Fastify's router, so that both find the same. */
  constructor(options: RouterOptions) {
    this.#router = findMyWay(options);
  }

  /** Adds the routes that are registered from here on. */
  watch(app: FastifyInstance): void {
    app.decorateRequest("knownPath", undefined);
    app.addHook("onRoute", ({ url, method, config }) => {
      const path = this.#paths.get(url) ?? this.#add(url);
      for (const each of [method].flat()) path.methods.add(each);
      path.errorShape ??= config?.errorShape;
    });
  }

  /** For a request that has no route. */
  find({ url }: FastifyRequest): KnownPath | undefined {
    // Null if there is nothing, and without a store if the path cannot be decoded.
    return this.#router.find("GET", url)?.store ?? undefined;
  }

  #add(url: string): KnownPath {
    const path: KnownPath = { url, methods: new Set(), errorShape: undefined };
    this.#paths.set(url, path);
    this.#router.on("GET", url, () => {}, path);
    return path;
  }
}
