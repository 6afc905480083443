import { randomBytes } from "node:crypto";
import { callToMakeWebhooks } from "./call-as.ts";
import type { Notes } from "./notes.ts";
import { sampleWebhooks } from "./samples.ts";

/** The secret of the sample webhooks, which examples/webhook-receiver has to know. Made anew for each data directory. */
export function webhookSecret({ made, save }: Notes): string {
  made.webhookSecret ??= `whsec_${randomBytes(32).toString("base64")}`;
  save();
  return made.webhookSecret;
}

/** Webhooks of the sample people that tell the sample receiver; made before there is anything to tell, so that it hears of all of it. */
export async function seedWebhooks(notes: Notes, origin: string, receiverUrl: string): Promise<void> {
  const { made, save } = notes;
  made.webhooks ??= {};
  for (const { key, by, api, path, watched } of sampleWebhooks) {
    // By address as well: on another port it is another receiver.
    const url = `${receiverUrl}${path}`;
    if (made.webhooks[`${key} ${url}`]) continue;
    const call = await callToMakeWebhooks(by, origin);
    await call("POST", api, { url, watched, domains: ["repo", "discussion"], secret: webhookSecret(notes) });
    made.webhooks[`${key} ${url}`] = true;
    save();
  }
}
