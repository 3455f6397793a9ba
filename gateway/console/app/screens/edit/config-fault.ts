/** Why a text is not a valid config; undefined if it is. */
export function configFaultOf(config: string): string | undefined {
  try {
    // Whoever has deleted everything has not made a mistake in JSON.
    const value: unknown = config.trim() === "" ? undefined : JSON.parse(config);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? undefined : "The config must be a JSON object: { … }.";
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}.`;
  }
}
