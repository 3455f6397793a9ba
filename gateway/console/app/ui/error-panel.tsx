import type { ApiError } from "../api/api-error.ts";
import { CopyButton } from "./copy-button.tsx";
import { Icon } from "./icon.tsx";

interface ErrorPanelProps {
  readonly error: ApiError;
  /** Leads the message, such as "The presets could not be loaded". */
  readonly title?: string;
  readonly retry?: (() => void) | undefined;
}

/** What went wrong, all of it, and what can be done about it. */
export function ErrorPanel({ error, title, retry }: ErrorPanelProps) {
  return (
    <div class="error-panel" role="alert">
      <Icon name="warn" />
      <div class="error-body">
        {title && <strong>{title}</strong>}
        {error.issues.length > 1 ? (
          // All that the message says, and more.
          <ul>
            {error.issues.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                <code>{path || "body"}</code> {message}
              </li>
            ))}
          </ul>
        ) : (
          <p>{error.message}</p>
        )}
        <div class="error-actions">
          {retry && (
            <button type="button" class="button small" onClick={retry}>
              Try again
            </button>
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
