/** A request body, and what a preset must hold that was made from it. */
export interface Body {
  readonly text: string;
  readonly configJson: string;
  readonly systemPrompt: string;
}

const sentenceText = "Answer from the knowledge base only, cite the article, and hand over to a person when unsure. ";

/** About 1.5 KB, as an application with one tool would send it. */
export const ordinaryBody = chatBody(1, 5);

/** A config of about 6 KB, nearly all of it tools. */
export const largeBody = chatBody(11, 5);

function chatBody(tools: number, sentences: number): Body {
  const config = {
    model: "openai/gpt-4.1-mini",
    temperature: 0.2,
    max_completion_tokens: 800,
    tools: Array.from({ length: tools }, (_, index) => tool(index)),
    tool_choice: "auto",
  };
  const systemPrompt = sentenceText.repeat(sentences).trim();
  const messages = [
    { role: "system", content: systemPrompt },
    { role: "user", content: "My order 10-4471 has not arrived yet. Where is it, and can I still change the address?" },
  ];
  return { text: JSON.stringify({ ...config, messages }), configJson: JSON.stringify(config), systemPrompt };
}

function tool(index: number): object {
  return {
    type: "function",
    function: {
      name: `find_order_${index}`,
      description: "Finds an order by its number and returns its state, its carrier and the expected day of delivery.",
      parameters: {
        type: "object",
        properties: {
          number: { type: "string", description: "The number as it stands on the invoice, such as 10-4471" },
          with_history: { type: "boolean", description: "Whether to return every scan of the parcel as well" },
        },
        required: ["number"],
        additionalProperties: false,
      },
    },
  };
}
