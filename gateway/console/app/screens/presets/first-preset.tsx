import { reasonForbidden } from "../../api/session.ts";
import type { SessionWorkspace } from "../../api/types.ts";
import { usePolling } from "../../api/use-loading.ts";
import { hrefTo } from "../../shell/location.ts";
import { newPresetHref } from "../../shell/preset-hrefs.ts";
import { CodeSample } from "../../ui/code-sample.tsx";

interface FirstPresetProps {
  readonly workspace: SessionWorkspace;
  /** Checks whether there is a preset by now. */
  readonly look: () => void;
}

/** Shown in an empty workspace: how to create the first preset, with a command to paste. */
export function FirstPreset({ workspace, look }: FirstPresetProps) {
  // The first preset appears on the page by itself.
  usePolling(look, 2_000);
  const reason = reasonForbidden("write");
  if (reason) {
    return (
      <div class="panel empty">
        <h2>No presets yet</h2>
        <p>The first preset that a colleague creates appears here by itself. {reason}</p>
      </div>
    );
  }
  const body = {
    model: "echo/small",
    temperature: 0.2,
    messages: [{ role: "system", content: "Answer in one sentence." }],
  };
  const command = `curl ${location.origin}/api/v1/presets/my-first-preset/chat/completions \\
  -H "Authorization: Bearer $SETPOINT_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'`;
  return (
    <div class="panel empty">
      <h2>No presets yet</h2>
      <p>A preset is a named, versioned configuration of a model request. There are two ways to create one.</p>
      <h3>Write it here</h3>
      <p>
        A <a href={newPresetHref(workspace)}>new preset</a> needs a slug and a model. You can also paste a request.
      </p>
      <h3>Or send a request that you already have</h3>
      <p>
        Put an <a href={hrefTo([workspace.slug, "keys"])}>API key of this workspace</a> into{" "}
        <code>SETPOINT_API_KEY</code> first. The settings and the system prompt of the request become version 1.
      </p>
      <CodeSample text={command} what="the command" />
      <p role="status">
        <span class="pulse" aria-hidden="true" /> Waiting for the first preset, which appears here by itself.
      </p>
    </div>
  );
}
