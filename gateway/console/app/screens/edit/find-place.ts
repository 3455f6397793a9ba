import type { SyntaxNode } from "@lezer/common";

/** The keys and indexes of a path as the API writes it: `tools[0].name`, `metadata["a b"]`. */
function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(([, index, quoted, name]) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? (name ?? "") : (JSON.parse(quoted) as string);
  });
}

/** Finds a path in the syntax tree of a JSON text, as far as the path exists. */
export function findPlace(
  root: SyntaxNode,
  textOf: (node: SyntaxNode) => string,
  path: string,
): { from: number; to: number } | undefined {
  let value = root.firstChild;
  let found: SyntaxNode | null = null;
  for (const step of stepsOf(path)) {
    if (!value) break;
    const next = typeof step === "number" ? elementAt(value, step) : memberOf(value, step, textOf);
    if (!next) break;
    found = next.shown;
    value = next.value;
  }
  return found ? { from: found.from, to: found.to } : undefined;
}

function elementAt(list: SyntaxNode, index: number): { shown: SyntaxNode; value: SyntaxNode } | undefined {
  const element = childrenOf(list).filter(({ name }) => !/^[[\],]$/.test(name))[index];
  return element && { shown: element, value: element };
}

function memberOf(
  object: SyntaxNode,
  key: string,
  textOf: (node: SyntaxNode) => string,
): { shown: SyntaxNode; value: SyntaxNode } | undefined {
  for (const property of object.getChildren("Property")) {
    const name = property.firstChild;
    if (name && property.lastChild && JSON.parse(textOf(name)) === key)
      return { shown: property, value: property.lastChild };
  }
  return undefined;
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}
