// What the pictures show: a team that has used presets for some months. All of it is made up.

/** Who makes a change: members of the organization that `npm start` makes. */
export type Author = "ada" | "grace" | "alan";

/** Something that was done to a preset, and how many hours ago. */
export interface Step {
  readonly slug: string;
  readonly author: Author;
  readonly hoursAgo: number;
  /** A new version, from the body of a request. */
  readonly create?: { readonly dialect?: "chat/completions" | "messages" | "responses"; readonly body: object };
  readonly patch?: object;
}

const supportPrompts = [
  `You answer customers of an online shop for bicycle parts.

- Be brief: three sentences at most.
- Never promise a refund.
- Ask for the order number if you need it.`,
  `You answer customers of an online shop for bicycle parts.

- Be brief and kind: three sentences at most.
- Never promise a refund.
- Ask for the order number if you need it.
- Say what happens next.`,
  `You answer customers of an online shop for bicycle parts.

- Be brief and kind: four sentences at most.
- Never promise a refund; offer to ask the returns team.
- Ask for the order number if you need it.
- Say what happens next, and by when.`,
];

const findOrder = {
  type: "function",
  function: {
    name: "find_order",
    description: "Looks up an order by its number.",
    parameters: { type: "object", properties: { number: { type: "string" } }, required: ["number"] },
  },
};

function chat(prompt: string, config: object): NonNullable<Step["create"]> {
  return { body: { ...config, messages: [{ role: "system", content: prompt }] } };
}

const day = 24;

/** In the order in which they are done, which of one preset is that of their age. */
export const steps: readonly Step[] = [
  ...preset("release-notes", "ada", 71 * day, "Release notes", "From merged pull requests to what customers read", {
    dialect: "messages",
    body: { model: "anthropic/claude-sonnet-4.5", max_tokens: 2000, system: "Write release notes.", messages: [] },
  }),
  ...preset(
    "legacy-faq",
    "alan",
    64 * day,
    "FAQ bot of 2025",
    "Replaced by Support replies",
    chat("Answer from the FAQ.", { model: "openai/gpt-4.1-mini" }),
    "archived",
  ),
  ...preset(
    "contract-summary",
    "grace",
    33 * day,
    "Contract summary",
    "One page for the sales team, with every deadline named",
    chat("Summarize the contract.", { model: "anthropic/claude-opus-4.1", temperature: 0 }),
  ),
  ...preset(
    "translate-ui",
    "alan",
    19 * day,
    "Interface texts, translated",
    "Keeps placeholders, glossary in the prompt",
    chat("Translate texts of an interface.", { model: "google/gemini-2.5-flash", temperature: 0.3 }),
  ),
  ...preset(
    "sql-assistant",
    "grace",
    12 * day,
    "SQL assistant",
    "Read-only questions about the warehouse",
    { dialect: "responses", body: { model: "openai/gpt-5", instructions: "Answer with one query.", reasoning: {} } },
    "disabled",
  ),
  ...preset(
    "product-texts",
    "ada",
    8 * day,
    "Product descriptions",
    "120 words for the catalogue, in the voice of the brand",
    chat("Describe a product.", { model: "openai/gpt-4.1", temperature: 0.9 }),
  ),
  ...preset(
    "code-review",
    "alan",
    3 * day,
    "Code review",
    "First look at a pull request: faults only, no taste",
    chat("Review the change.", { model: "anthropic/claude-sonnet-4.5", temperature: 0.1 }),
  ),
  ...preset(
    "meeting-notes",
    "grace",
    30,
    "Meeting notes",
    "Decisions, owners, dates; nothing else",
    chat("Take notes.", { model: "google/gemini-2.5-pro", temperature: 0.2 }),
  ),
  ...preset(
    "ticket-triage",
    "ada",
    5,
    "Ticket triage",
    "Queue, urgency and language of a ticket, as JSON",
    chat("Sort the ticket.", {
      model: "openai/gpt-4.1-mini",
      temperature: 0,
      response_format: { type: "json_object" },
    }),
  ),
  ...preset(
    "support-reply",
    "ada",
    21 * day,
    "Support replies",
    "First answer to a customer, checked by a person before it is sent",
    chat(supportPrompts[0] ?? "", { model: "openai/gpt-4.1", temperature: 0.7, max_tokens: 400 }),
  ),
  {
    slug: "support-reply",
    author: "grace",
    hoursAgo: 9 * day,
    create: chat(supportPrompts[1] ?? "", { model: "openai/gpt-4.1", temperature: 0.4, max_tokens: 400 }),
  },
  {
    slug: "support-reply",
    author: "alan",
    hoursAgo: 2 * day,
    create: chat(supportPrompts[2] ?? "", {
      model: "anthropic/claude-sonnet-4.5",
      models: ["anthropic/claude-sonnet-4.5", "openai/gpt-4.1"],
      temperature: 0.4,
      max_tokens: 500,
      tools: [findOrder],
    }),
  },
  { slug: "support-reply", author: "grace", hoursAgo: 2, patch: { designated_version: 2 } },
];

function preset(
  slug: string,
  author: Author,
  hoursAgo: number,
  name: string,
  description: string,
  create: NonNullable<Step["create"]>,
  status?: "disabled" | "archived",
): Step[] {
  const step = { slug, author, hoursAgo };
  return [
    { ...step, create },
    { ...step, patch: { name, description, ...(status ? { status } : {}) } },
  ];
}

export const keys: readonly {
  readonly name: string;
  readonly author: Author;
  readonly permissions: readonly string[];
}[] = [
  { name: "checkout service", author: "ada", permissions: ["inference"] },
  { name: "support desk", author: "grace", permissions: ["presets:read", "inference"] },
  { name: "ci", author: "alan", permissions: ["presets:read", "presets:write"] },
];

export const workspaces: readonly { readonly name: string; readonly slug: string }[] = [
  { name: "Staging", slug: "staging" },
  { name: "Research", slug: "research" },
];
