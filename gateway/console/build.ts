import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";
import { dialects } from "../dialects/dialects.ts";
import { buildSources } from "./build-sources.ts";

// Builds the console, unless the existing build is from the same sources: `npm start` runs this each time.

const root = join(import.meta.dirname, "../..");
const appFolder = join(import.meta.dirname, "app");
const dist = join(import.meta.dirname, "dist");
const hashFile = join(dist, "sources.sha256");

function hashOfSources(): string {
  const hash = createHash("sha256").update(JSON.stringify(keptFields()));
  for (const file of globSync(buildSources, { cwd: root }).sort()) {
    if (!file.endsWith(".test.ts")) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest("hex");
}

function builtFrom(): string | undefined {
  try {
    return readFileSync(hashFile, "utf8");
  } catch {
    return undefined;
  }
}

/** Vite takes what follows one of these for the query or the fragment of an address, and does not find its files. */
function refuseUnusablePath(): void {
  const found = /[#?]/.exec(root)?.[0];
  if (found === undefined) return;
  console.error(
    `Vite cannot build in a folder whose path contains "${found}": ${root}\nMove the repository elsewhere.`,
  );
  process.exit(1);
}

async function buildInto(folder: string): Promise<void> {
  await build({
    root: appFolder,
    base: "/console/",
    configFile: false,
    logLevel: "error",
    define: { KEPT_FIELDS: JSON.stringify(keptFields()) },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: "es2023",
      // Our policy allows no data: URLs, and browsers that support light-dark() need no polyfill.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
    worker: { format: "es" },
  });
}

/**
 * Computed here, because the dialects' tables also check bodies, which is too much code for a browser that only needs
 * names.
 */
function keptFields(): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(dialects).map(([name, { keptKeys }]) => [name, [...keptKeys]]));
}

/** Compressed once and well, so that serving costs nothing. */
async function compressAll(folder: string): Promise<void> {
  const files = await readdir(folder, { recursive: true });
  await Promise.all(
    files
      .filter((file) => /\.(js|css|html|svg)$/.test(file))
      .map(async (file) => {
        const path = join(folder, file);
        const content = await readFile(path);
        const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
        await writeFile(`${path}.br`, await promisify(brotliCompress)(content, { params }));
        await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
      }),
  );
}

// A build by tests must be the same as that of the next start, and not the larger one for development.
process.env.NODE_ENV = "production";

const hash = hashOfSources();
if (builtFrom() === hash) {
  console.log("kept");
} else {
  refuseUnusablePath();
  // Built aside, and then moved into place: whoever serves it meanwhile has the old one or the new one.
  const fresh = `${dist}.${process.pid}`;
  const old = `${fresh}.old`;
  try {
    await buildInto(fresh);
    await compressAll(fresh);
    writeFileSync(join(fresh, "sources.sha256"), hash);
    // If another process has built the same meanwhile, that build stays: it may be in use right now.
    if (builtFrom() !== hash) await rename(dist, old).catch(() => {});
    await rename(fresh, dist).catch((error: unknown) => {
      if (builtFrom() !== hash) throw error;
    });
    console.log("built");
  } finally {
    await Promise.all([fresh, old].map((folder) => rm(folder, { recursive: true, force: true })));
  }
}
