import { joinTexts, promptOfContent, promptOfMessages } from "../../../../dialects/system-prompt.ts";

/** The system prompt in the text of a config, if it is that of a whole request; otherwise empty. */
export function pastedPrompt(config: string): string {
  const { messages, system, instructions, input } = JSON.parse(config);
  const found = [
    promptOfMessages(messages, ""),
    promptOfContent(system, ""),
    promptOfContent(instructions, ""),
    promptOfMessages(input, ""),
  ];
  // In every dialect, only one of them is the system prompt.
  return found.map(({ texts }) => joinTexts(texts) ?? "").find((text) => text !== "") ?? "";
}
