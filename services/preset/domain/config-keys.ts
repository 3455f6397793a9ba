/** Every field that a preset config may hold. Callers map their own request shapes to these. */
export const configKeys: ReadonlySet<string> = new Set([
  // Which model, and how a request is routed to it.
  "model",
  "models",
  "provider",
  "route",
  "plugins",
  "service_tier",
  "speed",
  "fallbacks",
  // Sampling.
  "temperature",
  "top_p",
  "top_k",
  "top_a",
  "min_p",
  "frequency_penalty",
  "presence_penalty",
  "repetition_penalty",
  "logit_bias",
  "seed",
  "logprobs",
  "top_logprobs",
  // How much, and when to stop.
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "stop",
  "stop_sequences",
  "truncation",
  // Tools.
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "max_tool_calls",
  "stop_server_tools_when",
  // Reasoning.
  "reasoning",
  "reasoning_effort",
  "thinking",
  "verbosity",
  // The shape of the answer.
  "response_format",
  "output_config",
  "text",
  "include",
  "modalities",
  "image_config",
  // Context.
  "cache_control",
  "prompt_cache_options",
  "context_management",
]);
