/** Where a key may stand, by the names that the document has for it. */
export const securitySchemes = {
  key: { type: "http", scheme: "bearer", description: "An API key or a management key: `sk-sp-v1-…`." },
  apiKeyHeader: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "The same key, where Anthropic's clients send it. For inference and models.",
  },
};

/** Of most operations. */
export const asBearer = [{ key: [] }];

/** Of those that Anthropic's clients call. */
export const inEitherHeader = [...asBearer, { apiKeyHeader: [] }];
