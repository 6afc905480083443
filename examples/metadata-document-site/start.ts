import { createServer } from "node:https";
import { serve } from "@hono/node-server";
import { readCertificate } from "./certificate.ts";
import { clientId } from "./metadata-document.ts";
import { readSettings } from "./settings.ts";
import { metadataDocumentSite } from "./site.ts";

const settings = readSettings(process.env);
const { websiteUrl, host, port, certificateDirectory } = settings;
const { cert, key } = await readCertificate(certificateDirectory, host);
const app = metadataDocumentSite(settings);
const server = serve({ fetch: app.fetch, hostname: host, port, createServer, serverOptions: { cert, key } }, () =>
  console.log(`${settings.siteName}: ${websiteUrl}, known as ${clientId(settings)}`),
);
server.on("error", (error) => {
  console.error(`Cannot listen on port ${port}: ${error.message}`);
  process.exit(1);
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(0));
