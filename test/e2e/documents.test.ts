import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseUpstreams } from "../../gateway/inference/upstreams/upstreams-file.ts";

const root = join(import.meta.dirname, "../..");
// Not readdir, which fails if a folder disappears meanwhile: the console may be built at the same time.
const files = globSync("**/*", { cwd: root, exclude: ["node_modules"] });
const documents = files.filter((file) => file.endsWith(".md"));

/** As GitHub derives anchors from headings. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(file, "utf8").matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** What is wrong with a link from a document to another file of the repository. */
function lookForLinkFault(document: string, link: string): string | undefined {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? join(root, document) : join(root, dirname(document), path);
  if (!existsSync(target)) return `${link}: there is no such file`;
  if (anchor !== undefined && !(statSync(target).isFile() && anchorsOf(target).includes(anchor))) {
    return `${link}: there is no such heading`;
  }
  return undefined;
}

it("finds the documents", () => {
  expect(documents).toEqual(expect.arrayContaining(["README.md", "CONTRIBUTING.md", "docs/architecture.md"]));
});

describe.each(documents)("%s", (document) => {
  const text = readFileSync(join(root, document), "utf8");

  it("links only to existing files and headings", () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
    const faults = links.filter((link) => !/^\w+:/.test(link)).map((link) => lookForLinkFault(document, link));
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  });

  it("names only existing source files", () => {
    const named = [...text.matchAll(/`([\w./-]+\.(?:ts|mjs|sql|proto))`/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([]);
  });
});

it.each(["README.md", "docs/upstreams.md"])("%s shows upstream tables that work as they stand", (document) => {
  const examples = readFileSync(join(root, document), "utf8").matchAll(/^```json\n(.+?)^```/gms);
  const tables = [...examples].map(([, text = ""]) => text).filter((text) => text.includes('"upstreams"'));
  expect(tables.length).toBeGreaterThan(0);
  for (const table of tables) expect(parseUpstreams(table).length).toBeGreaterThan(0);
});

it("every picture is shown with alternative text, and none is large", () => {
  const shown = documents.flatMap((document) =>
    [...readFileSync(join(root, document), "utf8").matchAll(/!\[([^\]]*)\]\(([^)\s]+)\)/g)].map(
      ([, words = "", path = ""]) => {
        expect(words.length, path).toBeGreaterThan(20);
        return join(dirname(document), path);
      },
    ),
  );
  const pictures = files.filter((file) => file.endsWith(".png"));
  expect(shown.sort()).toEqual(pictures.sort());
  expect(pictures.length).toBeGreaterThan(0);
  for (const picture of pictures) expect(statSync(join(root, picture)).size, picture).toBeLessThanOrEqual(80_000);
});

it("docs/architecture.md names every folder of the platform", () => {
  const rooms = new Set(
    files.filter((file) => file.startsWith("services/platform/")).map((file) => file.split("/")[2]),
  );
  const [, section = ""] = readFileSync(join(root, "docs/architecture.md"), "utf8").split(
    "## What the processes share",
  );
  const told = [...(section.split("\n## ")[0]?.matchAll(/^\| `([\w-]+)` \|/gm) ?? [])].map(([, room]) => room);
  expect(told).toEqual([...rooms].sort());
});
