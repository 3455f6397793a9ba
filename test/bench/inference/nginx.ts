import { existsSync, truncateSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startInBackground } from "../../../deploy/local/background-process.ts";
import { findFreePort } from "../../../deploy/local/ports.ts";
import { runProgram } from "../../../deploy/local/program.ts";
import { lookForHttpFault, waitUntilUp } from "../../../deploy/local/readiness.ts";
import type { Room, Target } from "../processes.ts";
import { say } from "../progress.ts";
import { cacheFolder } from "./cache-folder.ts";

/** A plain proxy in front of the upstream: the floor. */
export async function openNginx({ folder, signal, opened }: Room, upstreamPort: number): Promise<Target> {
  const program = await findNginx(signal);
  const home = join(folder, "nginx");
  await mkdir(join(home, "logs"), { recursive: true });
  const port = await findFreePort();
  const configFile = join(home, "nginx.conf");
  await writeFile(configFile, configOf(home, port, upstreamPort));
  const logFile = join(folder, "nginx.log");
  const child = startInBackground({ command: program, args: ["-p", home, "-c", configFile], logFile });
  opened(() => child.stop());
  const lookForFault = () => lookForHttpFault(`http://127.0.0.1:${port}/healthz`);
  await waitUntilUp(child, { title: "nginx", logFile, lookForFault, signal });
  return {
    name: "nginx",
    port,
    processes: [{ name: "nginx", pid: child.pid }],
    rotateLogs: () => truncateSync(logFile),
  };
}

/** That of the machine, else Debian's, unpacked and not installed: so no service is set up, and nobody has to be root. */
async function findNginx(signal: AbortSignal): Promise<string> {
  const isInstalled = await runProgram("nginx", ["-v"], { signal }).then(
    () => true,
    () => false,
  );
  if (isInstalled) return "nginx";
  const home = join(cacheFolder(), "nginx");
  const program = join(home, "usr/sbin/nginx");
  if (existsSync(program)) return program;
  say(`no nginx here: unpacking Debian's into ${home} (once)`);
  await mkdir(cacheFolder(), { recursive: true });
  const folder = await mkdtemp(`${home}-`);
  try {
    // apt downloads into the current folder only.
    await runProgram("sh", ["-c", 'cd "$0" && apt-get --quiet download nginx', folder], { signal });
    const file = (await readdir(folder)).find((name) => name.endsWith(".deb"));
    await runProgram("dpkg-deb", ["-x", join(folder, file ?? ""), join(folder, "unpacked")], { signal });
    await rename(join(folder, "unpacked"), home);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return program;
}

/** One process, without an access log; nothing of an answer is kept back, as streams need it. */
function configOf(home: string, port: number, upstreamPort: number): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `daemon off;
master_process off;
error_log stderr error;
pid ${home}/nginx.pid;
worker_rlimit_nofile 16384;
events { worker_connections 8192; }
http {
  access_log off;
${temporary.map((name) => `  ${name}_temp_path ${home}/${name};`).join("\n")}
  keepalive_requests 100000000;
  client_max_body_size 32m;
  upstream bench { server 127.0.0.1:${upstreamPort}; keepalive 1024; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location = /healthz { return 200; }
    location / {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header connection "";
      proxy_buffering off;
    }
  }
}
`;
}
