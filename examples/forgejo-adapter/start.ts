import { createAdapter, type Settings, syncAll } from "./adapter.ts";

const MINUTES_BETWEEN = 10;

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`Set ${name}; see README.md.`);
  return value.replace(/\/$/, "");
}

const settings: Settings = {
  serviceUrl: setting("SERVICE_URL"),
  platformToken: setting("PLATFORM_TOKEN"),
  forgeUrl: setting("FORGE_URL"),
  webhookSecret: setting("WEBHOOK_SECRET"),
  ...(process.env.FORGE_TOKEN && { forgeToken: process.env.FORGE_TOKEN }),
};
const port = Number(process.env.PORT ?? 8090);

createAdapter(settings).listen(port, () => console.log(`Accepts webhooks at http://localhost:${port}`));
if (settings.forgeToken) {
  const sync = () => void syncAll(settings).catch((error: unknown) => console.error(error));
  sync();
  setInterval(sync, MINUTES_BETWEEN * 60_000);
}
