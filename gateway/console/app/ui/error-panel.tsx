import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/api-error.ts";
import { CopyButton } from "./copy-button.tsx";
import { Icon } from "./icon.tsx";

interface ErrorPanelProps {
  readonly error: ApiError;
  /** Precedes the message, such as "The presets could not be loaded". */
  readonly title?: string;
  readonly retry?: (() => void) | undefined;
  /** A way to go on: the label of the link, and its address. */
  readonly link?: readonly [label: string, href: string] | undefined;
  /** An explanation for the reader, in place of the error's message. */
  readonly children?: ComponentChildren;
}

/** Everything that went wrong, and what can be done about it. */
export function ErrorPanel({ error, title, retry, link, children }: ErrorPanelProps) {
  return (
    <div class="error-panel" role="alert">
      <Icon name="warn" />
      <div class="error-body">
        {title && <strong>{title}</strong>}
        {children || <Message error={error} />}
        <div class="error-actions">
          {retry && (
            <button type="button" class="button small" onClick={retry}>
              Try again
            </button>
          )}
          {link && (
            <a class="button small" href={link[1]}>
              {link[0]}
            </a>
          )}
          {error.requestId && (
            <span class="request-id">
              Request <code>{error.requestId}</code>
              <CopyButton text={error.requestId} what="the request id" isBare />
            </span>
          )}
        </div>
      </div>
    </div>
  );
}

function Message({ error: { issues, message } }: Pick<ErrorPanelProps, "error">) {
  if (issues.length <= 1) return <p>{message}</p>;
  // The list contains everything that the message says, and more.
  return (
    <ul>
      {issues.map(({ path, message: rule }) => (
        <li key={`${path} ${rule}`}>
          <code>{path || "body"}</code> {rule}
        </li>
      ))}
    </ul>
  );
}
