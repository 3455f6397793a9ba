/** A changed field, as both services report it. The values are already JSON. */
interface FieldChange {
  readonly field: string;
  readonly fromJson: string;
  readonly toJson: string;
}

/** The JSON of a list of changes. */
export function fieldChangesJson(changes: readonly FieldChange[]): string {
  return `[${changes.map(fieldChangeJson).join(",")}]`;
}

function fieldChangeJson({ field, fromJson, toJson }: FieldChange): string {
  return `{"field":${JSON.stringify(field)},"from":${fromJson},"to":${toJson}}`;
}
