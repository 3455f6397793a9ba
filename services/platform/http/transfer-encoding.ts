/**
 * Whether the body of a request comes as it was written. Node takes care of chunks, but hands over what was also compressed
 * on the way as if it were not.
 */
export function isPlainTransfer(transferEncoding: string | null | undefined): boolean {
  return (transferEncoding ?? "chunked").toLowerCase() === "chunked";
}
