// Administers an organization with its management key and the public SDK: makes a workspace and a key there, rotates the
// key without an outage, and deletes it. Run it while `npm start` is running: node docs/examples/administer.mjs
import { notRunning, readCredentials } from "./local-system.mjs";

const { base_url, management_key } = readCredentials();
// Imported only now: before the first `npm start`, there are no packages.
const { OpenRouter } = await import("@openrouter/sdk");
const { ConnectionError, NotFoundResponseError } = await import("@openrouter/sdk/models/errors");

function clientWith(apiKey) {
  return new OpenRouter({ apiKey, serverURL: `${base_url}/api/v1`, retryConfig: { strategy: "none" } });
}

const management = clientWith(management_key);

/** The workspace, which is made where it is not there yet. */
async function getWorkspace(slug) {
  try {
    return (await management.workspaces.get({ id: slug })).data;
  } catch (error) {
    if (error instanceof ConnectionError) return notRunning(base_url);
    if (!(error instanceof NotFoundResponseError)) throw error;
    return (await management.workspaces.create({ createWorkspaceRequest: { name: "Examples", slug } })).data;
  }
}

/** A new secret for a key, which the SDK has no operation for. The old one goes on working for a while. */
async function rotate(hash, graceSeconds) {
  const response = await fetch(`${base_url}/api/v1/keys/${hash}/rotate`, {
    method: "POST",
    headers: { authorization: `Bearer ${management_key}`, "content-type": "application/json" },
    body: JSON.stringify({ grace_seconds: graceSeconds }),
  });
  const { data, key, error } = await response.json();
  if (error) throw new Error(error.message);
  return { data, key };
}

async function isAccepted(key) {
  return clientWith(key)
    .apiKeys.getCurrentKeyMetadata()
    .then(
      () => "works",
      () => "does not work",
    );
}

const workspace = await getWorkspace("examples");
const expiresAt = new Date(Date.now() + 3_600_000);
// Only this answer contains the secret. Pass it on to whoever will use it, and store it nowhere else.
const made = await management.apiKeys.create({
  requestBody: { name: "An example", workspaceId: workspace.id, expiresAt },
});
console.log(`A key was made in the workspace ${workspace.slug}, and ${await isAccepted(made.key)}.`);

const rotated = await rotate(made.data.hash, 60);
console.log(`It has a new secret, which ${await isAccepted(rotated.key)}.`);
console.log(`Its old secret ${await isAccepted(made.key)} until its grace is over.`);

await management.apiKeys.delete({ hash: rotated.data.hash });
console.log(`It was deleted, and ${await isAccepted(rotated.key)} now.`);
