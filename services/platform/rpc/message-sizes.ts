/** A version is 2 MiB at most; more is accepted for batches, and so that the answer can say which part is too large. */
export const requestBytesMax = 16 * 1024 * 1024;

/** For methods that take no content: room for a batch of a hundred names with an access token each. */
export const smallRequestBytesMax = 192 * 1024;

/** The largest answer is that to a batch of creations, which repeats their content. */
export const responseBytesMax = 32 * 1024 * 1024;
