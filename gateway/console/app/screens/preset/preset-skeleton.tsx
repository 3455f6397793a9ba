/** Takes as much room as most presets do, and is replaced as a whole, so that nothing moves. */
export function PresetSkeleton() {
  return (
    <div class="stack preset-skeleton" aria-busy="true">
      <div class="preset-intro">
        <span class="skeleton w-badge" />
      </div>
      <div class="serving-bar">
        <span class="skeleton w-badge" />
      </div>
      <div class="preset-columns">
        <div class="panel version-skeleton">
          {["w-name", "w-text", "w-name", "w-badge"].map((width, index) => (
            <div key={index} class={`skeleton ${width}`} />
          ))}
        </div>
        <div class="panel version-skeleton">
          {["w-name", "w-text", "w-badge"].map((width, index) => (
            <div key={index} class={`skeleton ${width}`} />
          ))}
        </div>
      </div>
    </div>
  );
}
