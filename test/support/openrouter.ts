import { OpenRouter } from "@openrouter/sdk";

/** The public client, without its retries: it would retry a 5xx for an hour. */
export function openRouterWith(apiKey: string, { baseUrl }: { readonly baseUrl: string }): OpenRouter {
  return new OpenRouter({ apiKey, serverURL: `${baseUrl}/api/v1`, retryConfig: { strategy: "none" } });
}
