import type { PresetWithVersion } from "../../api/types.ts";
import { CopyButton } from "../../ui/copy-button.tsx";

/** How requests name a preset, and what it is for. */
export function PresetIntro({ preset: { slug, description } }: { readonly preset: PresetWithVersion }) {
  return (
    <div class="preset-intro">
      <span class="row">
        <code class="wrap">@preset/{slug}</code>
        <CopyButton text={`@preset/${slug}`} what="the model name" isBare />
      </span>
      {description && (
        <p class="muted wrap" title={description}>
          {description}
        </p>
      )}
    </div>
  );
}
