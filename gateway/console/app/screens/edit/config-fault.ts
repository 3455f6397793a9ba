/** What keeps a text from being a config; undefined if nothing does. */
export function configFaultOf(config: string): string | undefined {
  try {
    const value: unknown = JSON.parse(config);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? undefined : "The config must be a JSON object: { … }.";
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}.`;
  }
}
