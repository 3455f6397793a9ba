/** The placeholder for the content of a version. */
export function ContentSkeleton() {
  return (
    <div class="panel version-skeleton" aria-busy="true">
      <div class="skeleton w-name" />
      <div class="skeleton w-text" />
      <div class="skeleton w-name" />
    </div>
  );
}
