import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { markShared } from "../limits/payload.ts";

/** A file of the console in one encoding. The bytes are in memory once, shared by all answers. */
interface AssetBody {
  readonly bytes: Buffer;
  readonly etag: string;
  /** Undefined: not compressed. */
  readonly encoding: string | undefined;
}

export interface Asset {
  readonly type: string;
  /** Whether the file name changes with the content. */
  readonly isImmutable: boolean;
  /** Smallest first. The last one is uncompressed, and everybody accepts it. */
  readonly bodies: readonly AssetBody[];
}

/** The content type of each kind of file. Files of other kinds are not served. */
const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Compressed copies that the build puts beside a file, if worthwhile; and the file itself. */
const encodings: readonly (readonly [string | undefined, string])[] = [
  ["br", ".br"],
  ["gzip", ".gz"],
  [undefined, ""],
];

/** Where the build puts files whose names contain a hash of their content. */
export const immutableFolder = "assets/";
export const indexFile = "index.html";

/**
 * The files of the built console by path, all of them in memory: requests are looked up here, and nothing of them
 * reaches the file system. Empty if the console was not built, or is incomplete: the API is served without it.
 */
export function readAssets(folder: string, onFault: (reason: string) => void): ReadonlyMap<string, Asset> {
  try {
    const assets = readFiles(folder);
    const missing = missingFrom(assets);
    if (missing.length === 0) return assets;
    onFault(`it lacks ${missing.join(", ")}`);
  } catch (error) {
    onFault(error instanceof Error ? error.message : String(error));
  }
  return new Map();
}

/** The files that the page loads first and that are missing: without them, it would stay blank. */
function missingFrom(assets: ReadonlyMap<string, Asset>): string[] {
  const page = assets.get(indexFile)?.bodies.at(-1)?.bytes.toString() ?? "";
  if (page === "") return [indexFile];
  const named = [...page.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, path = ""]) => path);
  return named.filter((path) => !assets.has(path));
}

function readFiles(folder: string): ReadonlyMap<string, Asset> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && types[extname(entry.name)] !== undefined)
    .map(({ parentPath, name }) => join(parentPath, name));
  return new Map(files.map((file) => [relative(folder, file), readAsset(folder, file)]));
}

function readAsset(folder: string, file: string): Asset {
  return {
    type: types[extname(file)] as string,
    isImmutable: relative(folder, file).startsWith(immutableFolder),
    bodies: encodings
      .filter(([, ending]) => existsSync(file + ending))
      .map(([encoding, ending]) => {
        const bytes = markShared(readFileSync(file + ending));
        return { bytes, encoding, etag: hash("sha256", bytes, "base64url").slice(0, 22) };
      }),
  };
}

/** No browser sends a longer header, and other clients are not worth the effort. */
const acceptLengthMax = 500;

/** The first body that the caller accepts. */
export function chooseBody({ bodies }: Asset, acceptEncoding = ""): AssetBody {
  const accepted = new Set(
    (acceptEncoding.length > acceptLengthMax ? "" : acceptEncoding)
      .toLowerCase()
      .split(",")
      .map((part) => part.split(";").map((piece) => piece.trim()))
      .filter(([, quality = "q=1"]) => !/^q=0(\.0*)?$/.test(quality))
      .map(([name]) => name),
  );
  return bodies.find(({ encoding }) => encoding === undefined || accepted.has(encoding)) as AssetBody;
}
