import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { parseSigningKeys } from "../../services/organization/domain/signing-keys.ts";
import { openRpcCalls, type RpcCalls } from "../support/rpc-calls.ts";
import { newSigningKeyPem, type Stack, startStack } from "../support/stack.ts";

const [oldPem, newPem] = [newSigningKeyPem(), newSigningKeyPem()];
let stack: Stack;
let presets: RpcCalls;

beforeEach(async () => {
  stack = await startStack({
    // Tokens that outlive the removal of the key by far.
    organization: { signingKeys: parseSigningKeys(oldPem, "test"), accessTokenTtlSeconds: 3_600 },
  });
  presets = openRpcCalls(stack.preset.config);
});

afterEach(async () => {
  presets.close();
  await stack.close();
});

async function roll(pem: string): Promise<void> {
  await stack.organization.stop();
  await stack.organization.start({ signingKeys: parseSigningKeys(pem, "test") });
}

describe("a signing key", () => {
  it("that has leaked invalidates its tokens when removed, including cached ones", async () => {
    const organization = openRpcCalls(stack.organization.config);
    const { accessToken } = await organization.gRPC(AccessService.method.exchangeKey, { key: stack.apiKey });
    organization.close();
    const list = () => presets.gRPC(PresetService.method.listPresets, {}, accessToken);
    await list();
    await roll(newPem);
    // A token of the new key arrives, and the service learns that the old key is gone.
    const create = async () => (await stack.create("rotated")).status;
    const { secret } = await stack.tenants.createKey(stack);
    await expect.poll(async () => (await stack.create("rotated", undefined, { key: secret })).status).toBe(200);
    await expect(list()).rejects.toMatchObject({ code: "UNAUTHENTICATED", reason: "TOKEN_INVALID" });
    // The gateway still holds a token of the old key: it exchanges the key again, unnoticed by its caller.
    expect(await create()).toBe(200);
  });

  it("is rotated under load without a failed call", async () => {
    const statuses = new Set<number>();
    let isOver = false;
    const callAgain = async () => {
      while (!isOver) {
        const { secret } = await stack.tenants.createKey(stack);
        statuses.add((await stack.create("rotating", undefined, { key: secret })).status);
        await sleep(20);
      }
    };
    const callers = Array.from({ length: 4 }, callAgain);
    for (const pem of [oldPem + newPem, newPem + oldPem, newPem]) {
      await roll(pem);
      await sleep(1_500);
    }
    isOver = true;
    await Promise.all(callers);
    expect([...statuses]).toEqual([200]);
  });
});
