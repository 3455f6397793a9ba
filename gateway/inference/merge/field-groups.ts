/** Fields that mean the same: any of the request's displaces all of the preset's. */
const groups: readonly (readonly string[])[] = [
  ["model", "models"],
  ["max_tokens", "max_completion_tokens", "max_output_tokens"],
  ["reasoning", "reasoning_effort"],
  ["stop", "stop_sequences"],
];

const groupByField = new Map(groups.flatMap((group) => group.map((field) => [field, group] as const)));

/** The group that a field belongs to; undefined if it is in none. */
export function groupOf(field: string): readonly string[] | undefined {
  return groupByField.get(field);
}
