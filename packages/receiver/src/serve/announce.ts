import type { Receiver } from "../create-receiver.ts";
import { environment } from "../environment.ts";

/** What a receiver says at its start. */
export function announce(
  receiver: Receiver,
  { url, relayUrl, print }: { url: string; relayUrl: string | undefined; print: (line: string) => void },
): void {
  const settings = webhookSettingsUrl(receiver);
  print("");
  print(`Webhooks are received at ${relayUrl ?? url}`);
  if (receiver.handlers.size === 0) print("  There is no handler yet: webhook(async function onPush(payload) { … })");
  for (const name of receiver.handlers.keys()) print(`  POST ${(relayUrl ?? url).replace(/\/$/, "")}/webhooks/${name}`);
  print(settings ? `Enter the address at ${settings}` : "Enter the address in the service, under Settings, Webhooks.");
  print(`See what comes at ${url}/`);
  if (receiver.secrets.length === 0) {
    print("");
    print("WARNING: there is no webhook secret, so the endpoints are open to everyone who finds them.");
    print("         Set WEBHOOK_SECRET, or createReceiver({ secret }), to the webhook's secret.");
  } else {
    print(receiver.secrets.length === 1 ? "The webhook secret is set." : `${receiver.secrets.length} webhook secrets are set.`);
  }
  print("");
}

export function webhookSettingsUrl({ options }: Receiver): string | undefined {
  const service = options.serviceUrl ?? environment.serviceUrl();
  return service && URL.canParse(service) ? new URL("/settings/webhooks", service).href : undefined;
}
