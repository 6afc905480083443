import type { WatchedItemInput } from "@keyhook/sdk";
import type { Command } from "commander";
import { act, type Context, withOwnUrl } from "../../context.ts";
import { BadInput } from "../../errors.ts";
import { manyOf, watchedItem } from "../../options.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";

/** `discussions` is what existing tools say. */
export const domainWords = ["repo", "discussions", "discussion"] as const;

type Options = OrganizationOption & {
  watch: WatchedItemInput[];
  url?: string;
  jobId?: string;
  domain?: (typeof domainWords)[number][];
  secret?: string;
  generateSecret?: boolean;
};

export function addCreateCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("create")
    .description("create a webhook, which sends events to an address or runs a job with each")
    .requiredOption("--watch <type:name>", "what to watch; repeatable", watchedItem)
    .option("--url <url>", "where to send events")
    .option("--job-id <id>", "a job to run with each event instead")
    .option("--domain <domain>", "repo or discussions; repeatable; both by default", manyOf(domainWords))
    .option("--secret <secret>", "shared with the receiver, which checks it")
    .option("--generate-secret", "have a secret made, and shown this once");
  withOrganization(withOwnUrl(command)).action(act(terminal, create));
}

async function create(at: Context, options: Options): Promise<void> {
  const { organization, watch: watched, url, jobId: jobSourceId, domain: domains, secret, generateSecret } = options;
  if ((url === undefined) === (jobSourceId === undefined)) throw new BadInput("Give either --url or --job-id.");
  if (secret !== undefined && generateSecret) throw new BadInput("Give either --secret or --generate-secret.");
  const client = await at.client();
  const whose = { organization, signal: at.signal };
  const made = await client.webhooks.create({ url, jobSourceId, watched, domains, secret, generateSecret }, whose);
  at.print.done("Webhook created", { id: made.id, secret: made.secret });
  if (made.secret !== undefined && at.print.format === "quiet") at.print.always(`secret: ${made.secret}`);
}
