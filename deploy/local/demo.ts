import type { Keys } from "./credentials.ts";
import { StartError } from "./start-error.ts";

/** Runs a command of the organization service and returns its output; throws a StartError if the command fails. */
type RunCommand = (args: readonly string[]) => Promise<string>;

interface Demo extends Keys {
  /** False if the organization existed already, and only its keys are new. */
  readonly isNew: boolean;
}

const organizationFlags = ["--organization", "Demo"];
const adminFlags = ["--admin-email", "ada@example.com", "--admin-first-name", "Ada", "--admin-last-name", "Lovelace"];
const demoMembers = [
  { email: "grace@example.com", firstName: "Grace", lastName: "Hopper" },
  { email: "alan@example.com", firstName: "Alan", lastName: "Turing" },
];

/**
 * Creates the demo organization on the first start. If an earlier start was interrupted, or its keys were lost, the
 * organization exists already: then it gets new keys and the missing members.
 */
export async function createDemo(run: RunCommand): Promise<Demo> {
  const demo = await bootstrap(run);
  for (const { email, firstName, lastName } of demoMembers) {
    const member = ["--email", email, "--first-name", firstName, "--last-name", lastName, "--role", "org:member"];
    await run(["add-member", ...organizationFlags, ...member]).catch((error: unknown) => {
      if (demo.isNew || !(error instanceof StartError)) throw error;
    });
  }
  return demo;
}

async function bootstrap(run: RunCommand): Promise<Demo> {
  try {
    const made = JSON.parse(await run(["bootstrap", ...organizationFlags, ...adminFlags, "--json"]));
    return { api_key: made.api_key, management_key: made.management_key, isNew: true };
  } catch (refusal) {
    if (!(refusal instanceof StartError)) throw refusal;
    // If the reason was not the name, creating keys fails as well, and the first reason is the one to report.
    return createKeys(run).catch(() => {
      throw refusal;
    });
  }
}

async function createKeys(run: RunCommand): Promise<Demo> {
  const createKey = async (kind: string): Promise<string> => {
    const flags = ["--name", `Replacement ${kind} key`, "--kind", kind, "--json"];
    return JSON.parse(await run(["create-key", ...organizationFlags, ...flags])).key;
  };
  return { api_key: await createKey("api"), management_key: await createKey("management"), isNew: false };
}
