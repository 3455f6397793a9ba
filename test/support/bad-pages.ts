/** Invalid values of the parameters that every list takes, each with its error. */
export const badPages = [
  ["offset=-1", "offset", "must be at least 0"],
  ["offset=2147483648", "offset", "must be at most 2147483647"],
  ["offset=1.5", "offset", "must be an integer"],
  ["offset=", "offset", "must be an integer"],
  ["limit=0", "limit", "must be at least 1"],
  ["limit=-5", "limit", "must be at least 1"],
  ["limit=101", "limit", "must be at most 100"],
  ["limit=1e2", "limit", "must be an integer"],
  ["limit=01", "limit", "must be an integer"],
  ["limit=-0", "limit", "must be an integer"],
  ["limit=%205", "limit", "must be an integer"],
  ["offset=00", "offset", "must be an integer"],
  ["limit=ten", "limit", "must be an integer"],
  ["limit=1&limit=2", "limit", "must be given once"],
] as const;
