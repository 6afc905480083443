import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import type { Demo } from "./demo.ts";
import { findFreePorts } from "./free-ports.ts";
import { OTHER_HOST } from "./sample-certificates.ts";

const ROOT = resolve(import.meta.dirname, "../..");

export type RunningSite = { url: string; host: string; stop: () => Promise<void> };

export async function runDocumentSite({ certificates, origin }: Demo): Promise<RunningSite> {
  const port = await findFreePorts(1);
  const environment = {
    ISSUER: origin,
    SITE_HOST: OTHER_HOST,
    SITE_PORT: String(port),
    CERTIFICATE_DIR: certificates.other,
  };
  const child = spawn(process.execPath, ["examples/metadata-document-site/start.ts"], {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const isUp = await Promise.race([once(child.stdout, "data").then(() => true), once(child, "exit").then(() => false)]);
  if (!isUp) throw new Error("The site with a metadata document did not start.");
  return {
    url: `https://${OTHER_HOST}:${port}`,
    host: OTHER_HOST,
    async stop() {
      child.kill("SIGTERM");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}
