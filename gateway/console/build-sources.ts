/**
 * What a build of the console depends on, beside the fields that the dialects keep. Not the schemas of the gateway's
 * answers: only their types are used.
 */
export const buildSources: readonly string[] = [
  "gateway/console/build.ts",
  "gateway/console/app/**/*.{ts,tsx,js,css,html,json,svg,woff2}",
  "gateway/dialects/system-prompt.ts",
  "gateway/json/refusal-texts.ts",
  "services/platform/domain/{domain-error,limits}.ts",
  "services/platform/json/{field-path,json-*}.ts",
  "package-lock.json",
];
