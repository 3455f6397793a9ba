import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { session } from "../api/session.ts";
import { announce } from "./announcer.tsx";
import { place } from "./location.ts";

interface PageProps {
  readonly title: string;
  /** The heading, if it is more than the title. */
  readonly heading?: ComponentChildren;
  readonly crumbs?: readonly (readonly [label: string, href: string])[];
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

let isFirstPage = true;

/** What every screen has: a title, a heading that takes the focus on arrival, and breadcrumbs. */
export function Page({ title, heading, crumbs, actions, children }: PageProps) {
  const head = useRef<HTMLHeadingElement>(null);
  const where = workspaceInTitle();
  useLayoutEffect(() => {
    document.title = [title, where, "Setpoint"].filter(Boolean).join(" · ");
  }, [title, where]);
  // Only on arrival, not when the title changes; and before the next keystroke, which would go elsewhere.
  useLayoutEffect(() => {
    // On the first page, the browser's own focus order applies.
    if (!isFirstPage) {
      // A heading that takes the focus is read out because of that.
      if (document.activeElement?.closest("main") === null) head.current?.focus({ preventScroll: true });
      else announce(title);
    }
    isFirstPage = false;
  }, []);
  return (
    <main class="page" id="content" tabIndex={-1}>
      {crumbs && (
        <nav class="path" aria-label="Path">
          <ol class="crumbs">
            {crumbs.map(([label, href]) => (
              <li key={href}>
                <a href={href}>{label}</a>
              </li>
            ))}
          </ol>
        </nav>
      )}
      <div class="page-head">
        <h1 ref={head} tabIndex={-1}>
          {heading ?? title}
        </h1>
        {actions && <div class="page-actions">{actions}</div>}
      </div>
      {children}
    </main>
  );
}

/** The name that tells tabs of several workspaces apart. */
function workspaceInTitle(): string | undefined {
  const { workspaces } = session.value ?? { workspaces: [] };
  return workspaces.length > 1 ? workspaces.find(({ slug }) => slug === place.value.parts[0])?.name : undefined;
}
