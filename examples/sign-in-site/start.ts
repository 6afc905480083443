import { serve } from "@hono/node-server";
import { inBrowserSite } from "./in-browser/site.ts";
import { serverSideSite } from "./server-side/site.ts";
import { readSettings } from "./settings.ts";

// Browsers share cookies between the ports of a host. In a demo the service runs on `localhost`, so this host differs.
const HOST = "127.0.0.1";

const settings = readSettings(process.env);
const sites = [
  settings.serverSide && { name: "on the server", app: serverSideSite(settings, settings.serverSide), ...settings.serverSide },
  settings.inBrowser && { name: "in the browser", app: inBrowserSite(settings, settings.inBrowser), ...settings.inBrowser },
].filter((site) => site !== undefined);

if (sites.length === 0) {
  console.error(
    "Nothing to start: set SERVER_SITE_CLIENT_ID and SERVER_SITE_CLIENT_SECRET, or BROWSER_SITE_CLIENT_ID (README.md).",
  );
  process.exit(2);
}

for (const { name, app, port } of sites) {
  const server = serve({ fetch: app.fetch, hostname: HOST, port }, () => console.log(`The site ${name}: http://${HOST}:${port}`));
  server.on("error", (error) => {
    console.error(`The site ${name} cannot listen on port ${port}: ${error.message}`);
    process.exit(1);
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(0));
}
