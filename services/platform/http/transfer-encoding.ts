/**
 * Whether the body of a request arrives as it was written. Node handles chunks, but passes on what was also compressed
 * in transfer as if it were not.
 */
export function isPlainTransfer(transferEncoding: string | null | undefined): boolean {
  return (transferEncoding ?? "chunked").toLowerCase() === "chunked";
}
