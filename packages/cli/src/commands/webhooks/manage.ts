import type { WatchedItemInput, WebhookRecord } from "@keyhook/sdk";
import type { Command } from "commander";
import { actionOf, type Context, withOwnUrl } from "../../context.ts";
import { BadInput } from "../../errors.ts";
import { manyOf, type OrganizationOption, watchedItem, withOrganization } from "../../options.ts";
import { secretOf } from "../../output/interaction.ts";
import type { Terminal } from "../../terminal.ts";

export function addLsCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks.command("ls").alias("list").description("list webhooks");
  withOrganization(command).action(actionOf(terminal, ls));
}

/** Prints the columns of existing tools, in their order (docs/specification/existing-clients.md#the-command-lines-output). */
async function ls(at: Context, { organization }: OrganizationOption): Promise<void> {
  const found = await (await at.client()).webhooks.list({ organization, signal: at.signal });
  at.print.list(
    found.map(({ id, url, disabled, domains, watched }) => ({
      id,
      url: url ?? "(job)",
      disabled,
      domains,
      watched: watched.map(watchedText),
    })),
  );
}

export function addInfoCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks.command("info").description("show a webhook").argument("<id>", "the webhook's ID");
  withOrganization(command).action(actionOf(terminal, info));
}

async function info(at: Context, { organization }: OrganizationOption, id: string): Promise<void> {
  at.print.record(await (await at.client()).webhooks.get(id, { organization, signal: at.signal }));
}

/** Existing tools write `discussions` for `discussion`. */
export const domainWords = ["repo", "discussions", "discussion"] as const;

type CreateOptions = OrganizationOption & {
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
    .description("create a webhook, which sends events to a URL or runs a job for each")
    .requiredOption("--watch <type:name>", "what to watch; repeatable", watchedItem)
    .option("--url <url>", "where to send events")
    .option("--job-id <id>", "run this job for each event instead")
    .option("--domain <domain>", "repo or discussions; repeatable; default: both", manyOf(domainWords))
    .option("--secret <secret>", "a secret: a receiver verifies events with it, a job gets it; - reads it from standard input")
    .option("--generate-secret", "generate a secret; it is shown only once");
  withOrganization(withOwnUrl(command)).action(actionOf(terminal, create));
}

async function create(at: Context, options: CreateOptions): Promise<void> {
  const { organization, watch: watched, url, jobId: jobSourceId, domain: domains, generateSecret } = options;
  if ((url === undefined) === (jobSourceId === undefined)) throw new BadInput("Specify either --url or --job-id.");
  if (options.secret !== undefined && generateSecret) throw new BadInput("Specify --secret or --generate-secret, not both.");
  const secret = await secretOf(at.terminal, options.secret);
  const client = await at.client();
  const request = { organization, signal: at.signal };
  const made = await client.webhooks.create({ url, jobSourceId, watched, domains, secret, generateSecret }, request);
  at.print.done("Webhook created", { id: made.id, secret: made.secret });
  if (made.secret !== undefined && at.print.format === "quiet") at.print.always(`secret: ${made.secret}`);
}

type UpdateOptions = OrganizationOption & {
  watch?: WatchedItemInput[];
  url?: string;
  jobId?: string;
  domain?: (typeof domainWords)[number][];
  secret?: string;
};

export function addUpdateCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("update")
    .description("change a webhook; options that you leave out change nothing")
    .argument("<id>", "the webhook's ID")
    .option("--url <url>", "where to send events")
    .option("--job-id <id>", "run this job for each event instead")
    .option("--watch <type:name>", "what to watch; replaces the whole list; repeatable", watchedItem)
    .option("--domain <domain>", "repo or discussions; repeatable", manyOf(domainWords))
    .option("--secret <secret>", 'a new secret; - reads it from standard input, "" removes it');
  withOrganization(withOwnUrl(command)).action(actionOf(terminal, update));
}

async function update(at: Context, options: UpdateOptions, id: string): Promise<void> {
  const { organization, watch: watched, url, jobId: jobSourceId, domain: domains } = options;
  if (url !== undefined && jobSourceId !== undefined) throw new BadInput("Specify --url or --job-id, not both.");
  const changes = { url, jobSourceId, watched, domains, secret: await secretOf(at.terminal, options.secret) };
  if (Object.values(changes).every((value) => value === undefined))
    throw new BadInput("Specify something to change: --help lists the options.");
  const client = await at.client();
  const webhook = await client.webhooks.update(id, changes, { organization, signal: at.signal });
  at.print.done("Webhook updated", { id: webhook.id });
}

export function addEnableCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("enable")
    .description("enable a webhook and send its waiting deliveries")
    .argument("<id>", "the webhook's ID");
  withOrganization(command).action(actionOf(terminal, enable));
}

async function enable(at: Context, { organization }: OrganizationOption, id: string): Promise<void> {
  const webhook = await (await at.client()).webhooks.enable(id, { organization, signal: at.signal });
  at.print.done("Webhook enabled", { id: webhook.id });
}

export function addDisableCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("disable")
    .description("disable a webhook, without deleting it")
    .argument("<id>", "the webhook's ID");
  withOrganization(command).action(actionOf(terminal, disable));
}

async function disable(at: Context, { organization }: OrganizationOption, id: string): Promise<void> {
  const webhook = await (await at.client()).webhooks.disable(id, { organization, signal: at.signal });
  at.print.done("Webhook disabled", { id: webhook.id });
}

export function addDeleteCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("delete")
    .description("delete a webhook permanently")
    .argument("<id>", "the webhook's ID")
    .option("-y, --yes", "do not ask for confirmation");
  withOrganization(command).action(actionOf(terminal, remove));
}

async function remove(at: Context, { organization, yes }: OrganizationOption & { yes?: boolean }, id: string): Promise<void> {
  await at.confirm(`Delete webhook ${id} and its activity?`, { yes });
  await (await at.client()).webhooks.delete(id, { organization, signal: at.signal });
  at.print.done("Webhook deleted", { id });
}

const watchedText = ({ type, name }: WebhookRecord["watched"][number]): string => `${type}:${name}`;
