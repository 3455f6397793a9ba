import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readGatewayConfig } from "../../gateway/config.ts";
import { Health } from "../../proto/gen/grpc/health/v1/health_pb.ts";
import type { DomainError } from "../../services/platform/domain/domain-error.ts";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { Metrics } from "../../services/platform/observe/metrics.ts";
import { ConfigError } from "../../services/platform/process/environment.ts";
import { Health as ProcessHealth } from "../../services/platform/process/health.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { openChannel } from "../../services/platform/rpc/channel.ts";
import { grpcClient } from "../../services/platform/rpc/grpc-client.ts";
import { grpcPathOf } from "../../services/platform/rpc/grpc-messages.ts";
import { GrpcServer } from "../../services/platform/rpc/grpc-server.ts";
import { serveHealth } from "../../services/platform/rpc/health-service.ts";
import type { TlsFiles, TlsMode } from "../../services/platform/rpc/tls.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { openPresetService } from "../../services/preset/app.ts";
import { type Authority, createAuthority } from "../support/certificates.ts";
import { grpcDefinitionOf } from "../support/grpc-definition.ts";
import { RawConnection } from "../support/raw-connection.ts";
import { request } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

const watchPath = grpcPathOf(Health.method.watch);
const renewalMs = 50;
const ours = createAuthority("Ours");
const theirs = createAuthority("Theirs");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-tls-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Calls once over a new connection: returns the server's status, or the kind of failure. */
async function callOnce(port: number, tls: TlsFiles | undefined, name = "localhost"): Promise<number | string> {
  const channel = openChannel(`${name}:${port}`, tls, async () => [{ address: "127.0.0.1" }]);
  try {
    const options = { requestId: "test", deadlineMs: monotonicMs() + 2_000 };
    return (await grpcClient(Health, channel).check({}, options)).status;
  } catch (error) {
    return (error as DomainError).kind;
  } finally {
    channel.close();
  }
}

/** The same with grpc-js without a certificate. */
function callWithoutCertificate(port: number, caCertificateFile: string): Promise<string> {
  const client = new Client(`localhost:${port}`, credentials.createSsl(readFileSync(caCertificateFile)));
  const { path, requestSerialize, responseDeserialize } = grpcDefinitionOf(Health.method.check);
  const message = create(Health.method.check.input);
  const deadline = { deadline: Date.now() + 30_000 };
  return new Promise((resolve) => {
    const done = (error: ServiceError | null) => {
      client.close();
      resolve(status[error?.code ?? 0] ?? "");
    };
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, new Metadata(), deadline, done);
  });
}

/** On a busy machine, a call may time out before the handshake is rejected. */
const refused = /^(unavailable|deadline_exceeded)$/;

describe("gRPC with TLS", () => {
  const servers: GrpcServer[] = [];

  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close(0);
  });

  async function serve(tls: TlsFiles | undefined, logger = silentLogger()): Promise<number> {
    const health = new ProcessHealth({}, () => false);
    const parts = { logger, metrics: new Metrics("test") };
    const server = new GrpcServer([serveHealth(health, [], parts)], parts.logger);
    servers.push(server);
    return server.listen("127.0.0.1", 0, tls, renewalMs);
  }

  it("serves a client with a certificate of the same CA", async () => {
    const port = await serve(ours.issue(join(folder, "server")));
    const client = ours.issue(join(folder, "client"));
    await expect.poll(() => callOnce(port, client)).toBe(1);
  });

  it.each<[string, () => TlsFiles | undefined]>([
    ["with a certificate of another CA", () => theirs.issue(join(folder, "stranger"))],
    [
      "of another CA that trusts ours",
      () => {
        const stranger = theirs.issue(join(folder, "stranger"));
        const { caCertificateFile } = ours.issue(join(folder, "ours"));
        return { ...stranger, caCertificateFile };
      },
    ],
    ["without TLS", () => undefined],
  ])("rejects a client %s", async (_name, channel) => {
    const tls = ours.issue(join(folder, "server"));
    const port = await serve(tls);
    await expect.poll(() => callOnce(port, tls)).toBe(1);
    expect(await callOnce(port, channel())).toMatch(refused);
  });

  it("rejects a client without a certificate", async () => {
    const tls = ours.issue(join(folder, "server"));
    const port = await serve(tls);
    await expect.poll(() => callOnce(port, tls)).toBe(1);
    expect(await callWithoutCertificate(port, tls.caCertificateFile)).toBe("UNAVAILABLE");
  });

  it("rejects a server with a certificate of another CA", async () => {
    const tls = theirs.issue(join(folder, "impostor"));
    const port = await serve(tls);
    await expect.poll(() => callOnce(port, tls)).toBe(1);
    const client = ours.issue(join(folder, "client"));
    expect(await callOnce(port, client)).toMatch(refused);
  });

  it("reports why a server cannot be reached", async () => {
    const port = await serve(theirs.issue(join(folder, "impostor")));
    const faultOf = async (tls: TlsFiles | undefined) => {
      const channel = openChannel(`localhost:${port}`, tls, async () => [{ address: "127.0.0.1" }]);
      await expect.poll(() => channel.fault).toBeDefined();
      channel.close();
      return channel.fault?.message;
    };
    const [own, other] = [ours.issue(join(folder, "client")), ours.issue(join(folder, "other"))];
    expect(await faultOf(own)).toMatch(/^No connection to localhost \(127\.0\.0\.1, port \d+\): .*certificate/);
    expect(await faultOf({ ...own, privateKeyFile: other.privateKeyFile })).toContain("key values mismatch");
    expect(await faultOf(undefined)).toContain("it was ended before the peer had said a word");
  });

  it("does not start with missing or mismatched files or an empty CA file", async () => {
    const [tls, other] = [ours.issue(join(folder, "server")), ours.issue(join(folder, "other"))];
    const empty = join(folder, "empty.crt");
    writeFileSync(empty, "");
    const fault = "GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE and GRPC_TLS_CA_FILE cannot be used: ";
    await expect(serve({ ...tls, caCertificateFile: empty })).rejects.toThrow(`${fault}${empty} holds no certificate`);
    await expect(serve({ ...tls, certificateFile: folder })).rejects.toThrow(`${fault}EISDIR`);
    await expect(serve({ ...tls, privateKeyFile: other.privateKeyFile })).rejects.toThrow(ConfigError);
  });

  it("picks up replaced files on both sides without a restart", async () => {
    const serverFolder = join(folder, "rotated-server");
    const clientFolder = join(folder, "rotated-client");
    const port = await serve(ours.issue(serverFolder));
    const client = ours.issue(clientFolder);
    await expect.poll(() => callOnce(port, client)).toBe(1);

    theirs.issue(serverFolder);
    await expect.poll(() => callOnce(port, client)).toBe("unavailable");
    theirs.issue(clientFolder);
    await expect.poll(() => callOnce(port, client)).toBe(1);
  });

  it("says once that replaced files cannot be used, keeps the others, and takes the next ones", async () => {
    const logged: string[] = [];
    const logger = pino({ level: "error" }, { write: (line: string) => logged.push(JSON.parse(line).err.message) });
    const tls = ours.issue(join(folder, "mended"));
    const client = ours.issue(join(folder, "client"));
    const port = await serve(tls, logger);
    writeFileSync(tls.privateKeyFile, readFileSync(client.privateKeyFile));
    await expect.poll(() => logged).toEqual([expect.stringContaining("key values mismatch")]);
    expect(await callOnce(port, client)).toBe(1);
    theirs.issue(join(folder, "mended"));
    await expect.poll(() => callOnce(port, client)).toBe("unavailable");
    expect(logged).toHaveLength(1);
  });

  const half = (text: string) => text.slice(0, text.length / 2);
  const brokenFiles: [string, keyof Omit<TlsFiles, "mode">, (text: string) => string][] = [
    ["an empty certificate", "certificateFile", () => ""],
    ["half a certificate", "certificateFile", half],
    ["an empty key", "privateKeyFile", () => ""],
    ["half a key", "privateKeyFile", half],
    ["an empty CA file", "caCertificateFile", () => ""],
    ["half a CA file", "caCertificateFile", half],
    ["a CA file with a half certificate at its end", "caCertificateFile", (text) => text + half(text)],
  ];

  it.each(brokenFiles)("keeps what a server has while its files hold %s", async (name, file, broken) => {
    const logged: string[] = [];
    const logger = pino({ level: "error" }, { write: (line: string) => logged.push(JSON.parse(line).msg) });
    const tls = ours.issue(join(folder, `${name}, server`));
    const client = ours.issue(join(folder, "client"));
    const port = await serve(tls, logger);
    writeFileSync(tls[file], broken(readFileSync(tls[file], "utf8")));
    await expect.poll(() => logged).toEqual(["the certificates cannot be renewed; those in use stay"]);
    expect(await callOnce(port, client)).toBe(1);
  });

  it.each(brokenFiles)("connects with what a client had while its files hold %s", async (name, file, broken) => {
    const tls = ours.issue(join(folder, `${name}, client`));
    const port = await serve(ours.issue(join(folder, "server")));
    await expect.poll(() => callOnce(port, tls)).toBe(1);
    writeFileSync(tls[file], broken(readFileSync(tls[file], "utf8")));
    expect(await callOnce(port, tls)).toBe(1);
    theirs.issue(join(folder, `${name}, client`));
    expect(await callOnce(port, tls)).toMatch(refused);
  });

  it.each<[string, Authority, Authority]>([
    ["an old server and a new client", ours, ours.renew()],
    ["a new server and an old client", ours.renew(), ours],
  ])("trusts certificates across a CA renewal with the same key: %s", async (_name, server, client) => {
    const port = await serve(server.issue(join(folder, "renewed-server")));
    const channel = client.issue(join(folder, "renewed-client"));
    await expect.poll(() => callOnce(port, channel)).toBe(1);
  });

  it("checks the certificate for the dialled name, whatever its addresses", async () => {
    const port = await serve(ours.issue(join(folder, "server")));
    const tls = ours.issue(join(folder, "client"));
    await expect.poll(() => callOnce(port, tls)).toBe(1);
    expect(await callOnce(port, tls, "elsewhere.test")).toBe("unavailable");
  });
});

describe("the migration from plaintext to TLS", () => {
  const servers: GrpcServer[] = [];

  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close(1_000);
  });

  const filesOf = (name: string, mode: TlsMode | "off"): TlsFiles | undefined =>
    mode === "off" ? undefined : { ...ours.issue(join(folder, name)), mode };

  async function serve(mode: TlsMode | "off"): Promise<number> {
    const health = new ProcessHealth({}, () => false);
    const parts = { logger: silentLogger(), metrics: new Metrics("test") };
    const server = new GrpcServer([serveHealth(health, [], parts)], parts.logger);
    servers.push(server);
    return server.listen("127.0.0.1", 0, filesOf("server", mode));
  }

  const steps = ["off", "accept", "call", "strict"] as const;
  const neighbours = steps.flatMap((step, index) =>
    steps.slice(Math.max(0, index - 1), index + 2).map((other) => [step, other] as const),
  );

  it.each(neighbours)("lets a server in mode %s serve a client in mode %s", async (serverMode, clientMode) => {
    const port = await serve(serverMode);
    const client = filesOf("client", clientMode);
    await expect.poll(() => callOnce(port, client)).toBe(1);
  });

  it.each(["accept", "call"] as const)("does not trust a certificate of another CA in mode %s", async (mode) => {
    const port = await serve(mode);
    await expect.poll(() => callOnce(port, filesOf("client", "strict"))).toBe(1);
    const stranger = theirs.issue(join(folder, "stranger"));
    expect(await callOnce(port, stranger)).toBe("unavailable");
  });

  it("closes connections that send their first bytes during shutdown", async () => {
    const port = await serve("accept");
    const socket = connectTcp(port, "127.0.0.1");
    const busy = connectHttp2(`http://127.0.0.1:${port}`);
    const watch = busy.request({ ":method": "POST", ":path": watchPath, "content-type": "application/grpc" });
    watch.on("error", () => {}).end(Buffer.alloc(5));
    await once(watch, "data");
    const closed = servers[0]?.close(60_000);
    const late = connectHttp2(`http://127.0.0.1:${port}`, { createConnection: () => socket });
    let isToldToGo = false;
    late.on("goaway", () => {
      isToldToGo = true;
    });
    await expect.poll(() => isToldToGo).toBe(true);
    busy.destroy();
    await closed;
    expect(late.destroyed).toBe(true);
  });

  it("closes silent connections on shutdown", async () => {
    const port = await serve("accept");
    const silent = await RawConnection.open(`http://127.0.0.1:${port}`);
    await servers[0]?.close(1_000);
    await silent.closed();
    expect(silent.received).toBe("");
  });
});

describe("the TLS configuration", () => {
  const file = import.meta.filename;
  const environment = { GRPC_TLS_CERT_FILE: file, GRPC_TLS_KEY_FILE: file, GRPC_TLS_CA_FILE: file };

  it("consists of three files", () => {
    expect(readGatewayConfig(environment).grpcTls).toEqual({
      mode: "strict",
      certificateFile: file,
      privateKeyFile: file,
      caCertificateFile: file,
    });
  });

  it("means plaintext if not set", () => {
    expect(readGatewayConfig({}).grpcTls).toBeUndefined();
    expect(readGatewayConfig({ GRPC_TLS_CERT_FILE: " " }).grpcTls).toBeUndefined();
  });

  it.each(Object.keys(environment))("is invalid without %s, or with it alone", (name) => {
    const fault = /GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE and GRPC_TLS_CA_FILE must be set together/;
    expect(() => readGatewayConfig({ ...environment, [name]: undefined })).toThrow(fault);
    expect(() => readGatewayConfig({ [name]: file })).toThrow(fault);
  });
});

describe("the whole system with TLS", () => {
  let stack: Stack;

  beforeAll(async () => {
    const certified = (name: string) => ({ grpcTls: ours.issue(join(folder, name)) });
    stack = await startStack({
      organization: certified("organization"),
      preset: certified("preset"),
      gateway: certified("gateway"),
    });
  });

  afterAll(() => stack.close());

  it("creates, reads and lists through the gateway", async () => {
    const created = await stack.create("secured", { messages: [], model: "m" });
    expect(created.status).toBe(200);
    expect((await stack.request("GET", "/presets/secured", { key: stack.apiKey })).text).toBe(created.text);
    const members = await stack.request("GET", "/organization/members", { key: stack.managementKey });
    expect([members.status, members.json.total_count]).toEqual([200, 1]);
    await expect.poll(async () => (await request("GET", `${stack.baseUrl}/readyz`)).status).toBe(200);
  });

  it("serves token keys only to holders of a certificate, and fetches them only from such", async () => {
    const lifecycle = new Lifecycle(silentLogger());
    const grpcTls = theirs.issue(join(folder, "stranger"));
    const config = { ...stack.preset.config, grpcPort: 0, httpPort: 0, grpcTls };
    const { http } = await openPresetService(config, silentLogger(), lifecycle);
    try {
      const reason = async () => (await request("GET", `http://127.0.0.1:${http}/readyz`)).text;
      await expect.poll(reason).toMatch(/the keys of access tokens could not be fetched yet: .*certificate/);
    } finally {
      await lifecycle.close();
    }
  });

  it.each(["preset", "organization"] as const)("accepts no plaintext on the gRPC port: %s", async (name) => {
    expect(await callOnce(stack[name].config.grpcPort, undefined)).toBe("unavailable");
  });

  it("returns 503 if the gateway's certificate is of another CA", async () => {
    await stack.gateway.stop();
    await stack.gateway.start({ grpcTls: theirs.issue(join(folder, "stranger")), requestTimeoutMs: 1_000 });
    expect((await stack.create("refused")).status).toBe(503);
    const { text } = await request("GET", `${stack.baseUrl}/readyz`);
    expect(text).toMatch(/the preset service is not ready: No connection to .*certificate/);
  });
});
