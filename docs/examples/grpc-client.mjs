// Creates a preset version over gRPC, without the gateway, with stock packages: @grpc/grpc-js and @grpc/proto-loader.
// Run it while `npm start` is running: node docs/examples/grpc-client.mjs
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const root = fileURLToPath(new URL("../..", import.meta.url));
const home = process.env.SETPOINT_HOME ?? `${root}.setpoint`;
const { api_key: key, preset_grpc, organization_grpc } = JSON.parse(readFileSync(`${home}/credentials.json`, "utf8"));

const files = ["setpoint/organization/v1/access_service.proto", "setpoint/preset/v1/preset_service.proto"];
const { setpoint } = grpc.loadPackageDefinition(loadSync(files, { includeDirs: [`${root}proto`] }));

/** A unary call as a promise. */
function call(client, method, request, metadata = new grpc.Metadata()) {
  return new Promise((resolve, reject) => {
    const options = { deadline: Date.now() + 5_000 };
    client[method](request, metadata, options, (error, response) => (error ? reject(error) : resolve(response)));
  });
}

// A key is exchanged once for an access token, which is good for a minute and the only credential that services take.
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
