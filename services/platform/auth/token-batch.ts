import { hash } from "node:crypto";

// Tokens that are signed together share a second signature in addition to each token's own: over the root of a Merkle
// tree, with the hashes that lead from the token to the root in each token. Whoever has verified the signature of the
// root verifies the other tokens of the batch by hashing, at a tenth of the cost of a signature; to anyone else they
// are ordinary JWTs.

const hashBytes = 32;
/** More than a batch of exchanges can need. */
const stepsMax = 10;
const [leafMark, nodeMark] = [Buffer.from([0]), Buffer.from([1])];

/** The path from one payload to the root of its batch. */
type BatchProof = readonly Buffer[];

/**
 * The signed content of a batch. It contains a space and a line break, so that it can never be the content of a JWT.
 */
export function batchContent(root: Buffer): string {
  return `setpoint access tokens\n${root.toString("base64url")}`;
}

/** The root over these payloads, and the proof of each. */
export function proveBatch(payloads: readonly string[]): { readonly root: Buffer; readonly proofs: BatchProof[] } {
  const proofs: Buffer[][] = payloads.map(() => []);
  let level = payloads.map((payload, index) => ({ hash: leafOf(payload), members: [index] }));
  while (level.length > 1) {
    const next: typeof level = [];
    for (let at = 0; at < level.length; at += 2) {
      const [left, right] = [level[at], level[at + 1]] as [(typeof level)[0], (typeof level)[0] | undefined];
      if (!right) {
        // A node without a neighbour moves up unchanged.
        next.push(left);
        continue;
      }
      for (const member of left.members) proofs[member]?.push(right.hash);
      for (const member of right.members) proofs[member]?.push(left.hash);
      next.push({ hash: nodeOf(left.hash, right.hash), members: [...left.members, ...right.members] });
    }
    level = next;
  }
  return { root: (level[0] as (typeof level)[0]).hash, proofs };
}

export function rootOf(payload: string, proof: BatchProof): Buffer {
  return proof.reduce(nodeOf, leafOf(payload));
}

/** A proof as encoded in a token, after the signature of its root. */
export function encodeProof(signature: Buffer, proof: BatchProof): string {
  return Buffer.concat([signature, ...proof]).toString("base64url");
}

export function decodeProof(
  text: string,
  signatureBytes: number,
): { signature: Buffer; proof: BatchProof } | undefined {
  const bytes = Buffer.from(text, "base64url");
  const steps = (bytes.length - signatureBytes) / hashBytes;
  if (!Number.isInteger(steps) || steps < 0 || steps > stepsMax) return undefined;
  const proof = Array.from({ length: steps }, (_, step) => {
    const from = signatureBytes + step * hashBytes;
    return bytes.subarray(from, from + hashBytes);
  });
  return { signature: bytes.subarray(0, signatureBytes), proof };
}

/** Leaves and nodes are hashed differently, so that no node can be presented as a payload. */
function leafOf(payload: string): Buffer {
  return sha256([leafMark, Buffer.from(payload)]);
}

/** In byte order, so that a proof need not say which is the left one. */
function nodeOf(a: Buffer, b: Buffer): Buffer {
  return sha256(Buffer.compare(a, b) < 0 ? [nodeMark, a, b] : [nodeMark, b, a]);
}

function sha256(parts: readonly Buffer[]): Buffer {
  return hash("sha256", Buffer.concat(parts), "buffer");
}
