import type { WatchedItemInput } from "@keyhook/sdk";
import type { Command } from "commander";
import { act, type Context, withOwnUrl } from "../../context.ts";
import { BadInput } from "../../errors.ts";
import { manyOf, watchedItem } from "../../options.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";
import { domainWords } from "./create.ts";

type Options = OrganizationOption & {
  watch?: WatchedItemInput[];
  url?: string;
  jobId?: string;
  domain?: (typeof domainWords)[number][];
  secret?: string;
};

export function addUpdateCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("update")
    .description("change a webhook; what is left out stays as it is")
    .argument("<id>", "of the webhook")
    .option("--url <url>", "where to send events")
    .option("--job-id <id>", "a job to run with each event instead")
    .option("--watch <type:name>", "what to watch, in the place of all that it watches; repeatable", watchedItem)
    .option("--domain <domain>", "repo or discussions; repeatable", manyOf(domainWords))
    .option("--secret <secret>", 'shared with the receiver; "" for none');
  withOrganization(withOwnUrl(command)).action(act(terminal, update));
}

async function update(at: Context, options: Options, id: string): Promise<void> {
  const { organization, watch: watched, url, jobId: jobSourceId, domain: domains, secret } = options;
  if (url !== undefined && jobSourceId !== undefined) throw new BadInput("Give either --url or --job-id.");
  const changes = { url, jobSourceId, watched, domains, secret };
  if (Object.values(changes).every((value) => value === undefined)) throw new BadInput("Say what to change: --help lists it.");
  const client = await at.client();
  const webhook = await client.webhooks.update(id, changes, { organization, signal: at.signal });
  at.print.done("Webhook updated", { id: webhook.id });
}
