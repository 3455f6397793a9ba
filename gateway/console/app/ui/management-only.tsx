import { Page } from "../shell/page.tsx";

/** A screen that an API key cannot have, which says so. */
export function ManagementOnly({ title, reason }: { readonly title: string; readonly reason: string }) {
  return (
    <Page title={title}>
      <div class="panel empty">
        <h2>Not with this key</h2>
        <p>{reason} Sign out, and sign in with a management key of the organization.</p>
      </div>
    </Page>
  );
}
