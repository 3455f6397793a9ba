const smallestMs = 0.01;
const bucketStep = Math.log(1.02);
const bucketCount = 820;

/** Latencies in buckets that are 2% wide, from 10 µs to more than a minute: any number of them in fixed memory. */
export class Histogram {
  readonly counts: number[];

  constructor(counts: readonly number[] = []) {
    this.counts = Array.from({ length: bucketCount }, (_, index) => counts[index] ?? 0);
  }

  record(ms: number): void {
    const bucket = ms <= smallestMs ? 0 : Math.floor(Math.log(ms / smallestMs) / bucketStep);
    const index = Math.min(bucket, bucketCount - 1);
    this.counts[index] = (this.counts[index] ?? 0) + 1;
  }

  add(other: Histogram): void {
    for (const [index, count] of other.counts.entries()) this.counts[index] = (this.counts[index] ?? 0) + count;
  }

  /** The latency that this share of all stayed within, as the upper end of its bucket; 0 where there are none. */
  quantileMs(share: number): number {
    const total = this.counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return 0;
    let seen = 0;
    const index = this.counts.findIndex((count) => {
      seen += count;
      return seen >= total * share;
    });
    return smallestMs * Math.exp((index + 1) * bucketStep);
  }
}
