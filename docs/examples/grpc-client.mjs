// Creates a preset version over gRPC, without the gateway, with stock packages: @grpc/grpc-js and @grpc/proto-loader.
// Run it while `npm start` is running: node docs/examples/grpc-client.mjs
import { notRunning, readCredentials, root } from "./local-system.mjs";

const { api_key: key, preset_grpc, organization_grpc } = readCredentials();
// Imported only now: before the first `npm start`, there are no packages.
const { default: grpc } = await import("@grpc/grpc-js");
const { loadSync } = await import("@grpc/proto-loader");

const files = ["setpoint/organization/v1/access_service.proto", "setpoint/preset/v1/preset_service.proto"];
const { setpoint } = grpc.loadPackageDefinition(loadSync(files, { includeDirs: [`${root}proto`] }));

/** A unary call as a promise. */
function call(client, method, request, metadata = new grpc.Metadata()) {
  return new Promise((resolve, reject) => {
    const options = { deadline: Date.now() + 5_000 };
    client[method](request, metadata, options, (error, response) => {
      if (error?.code === grpc.status.UNAVAILABLE) notRunning(client.getChannel().getTarget());
      else if (error) reject(error);
      else resolve(response);
    });
  });
}

// A key is exchanged for an access token, which is valid for a minute and the only credential that services accept.
const access = new setpoint.organization.v1.AccessService(organization_grpc, grpc.credentials.createInsecure());
const { accessToken } = await call(access, "exchangeKey", { key });

const metadata = new grpc.Metadata();
metadata.set("authorization", `Bearer ${accessToken}`);
const presets = new setpoint.preset.v1.PresetService(preset_grpc, grpc.credentials.createInsecure());
const { preset } = await call(
  presets,
  "createVersion",
  { slug: "over-grpc", configJson: JSON.stringify({ model: "openai/gpt-4.1-mini", temperature: 0.2 }) },
  metadata,
);
console.log(`${preset.slug} is at version ${preset.designatedVersion.version}: ${preset.designatedVersion.configJson}`);

access.close();
presets.close();
