import { randomBytes } from "node:crypto";
import { type Client, forwardTo, listenToRelay, type RelayState, type WatchedItemInput } from "@keyhook/sdk";
import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import { BadInput, Refused } from "../../errors.ts";
import { manyOf, watchedItem, webAddress } from "../../options.ts";
import { quotedForShell } from "../../output/quoted-for-shell.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";
import { domainWords } from "./create.ts";
import { printRequests } from "./print-requests.ts";

type Options = OrganizationOption & {
  forwardTo: string;
  webhook?: string;
  watch?: WatchedItemInput[];
  domain?: (typeof domainWords)[number][];
  secret?: string;
  name?: string;
  yes?: boolean;
};

/** The webhook that is made for this run, and its secret. */
type Session = { id: string; secret?: string };

export function addListenCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("listen")
    .description("have deliveries sent on to a server on this machine, for as long as this runs")
    .requiredOption("--forward-to <url>", "that server, such as http://localhost:3000/webhooks/push", webAddress)
    .option("--webhook <id>", "point this webhook here")
    .option("--watch <type:name>", "make a webhook that watches this, and delete it at the end; repeatable", watchedItem)
    .option("--domain <domain>", "with --watch: repo or discussions; repeatable", manyOf(domainWords))
    .option("--secret <secret>", "with --webhook: its secret, which the service wants again for another target")
    .option("--name <name>", "of the relay: the same name has the same public address for 72 hours")
    .option("-y, --yes", "point webhooks here without asking");
  withOrganization(command).action(act(terminal, listen));
}

async function listen(at: Context, options: Options): Promise<void> {
  const { webhook: id, watch, organization } = options;
  if (id !== undefined && watch !== undefined) throw new BadInput("Give either --webhook or --watch.");
  const client = await at.client();
  const name = options.name ?? (watch ? `cli-${randomBytes(5).toString("hex")}` : id ? `cli-${id}` : "cli");
  const { relay, previousUrl, staleWebhooks = [] } = await client.relays.open(name, { signal: at.signal });
  let session: Session | undefined;
  try {
    if (id !== undefined) await point(at, client, options, id, relay.url);
    if (watch !== undefined) {
      const input = { url: relay.url, watched: watch, domains: options.domain, generateSecret: true };
      const made = await client.webhooks.create(input, { organization, signal: at.signal });
      session = { id: made.id, ...(made.secret && { secret: made.secret }) };
      at.print.always(`Webhook ${made.id} made for as long as this runs. Its signing secret: ${made.secret}`);
    }
    const onState = (state: RelayState) => {
      tell(at, options, state);
      if (state.kind === "moved") void repoint(at, client, options, session, state);
    };
    if (previousUrl !== undefined) onState({ kind: "moved", url: relay.url, previousUrl, staleWebhooks });
    const handle = printRequests(at.print, forwardTo(options.forwardTo));
    const end = await listenToRelay(client, { name, handle, signal: at.signal, onState });
    if (end === "replaced") throw new Refused(`Another listener took relay ${name} over. Choose another one by --name.`);
    if (end === "closed") throw new Refused(`Relay ${name} was closed.`);
  } finally {
    await clear(at, client, options, session?.id, name);
  }
}

function tell({ print }: Context, { forwardTo: target }: Options, state: RelayState): void {
  if (state.kind === "open") {
    print.note(`Listening: ${state.url} is sent on to ${target}. Ctrl-C ends it.`);
    if (state.waiting > 0) print.note(`${state.waiting} requests had waited.`);
  }
  if (state.kind === "moved") print.note(`The address of this relay is a new one, ${state.url}: the one before had expired.`);
  if (state.kind === "lost") print.note(`Connection lost (${state.reason}).`);
  if (state.kind === "resumed") print.note("Listening again.");
}

async function point(
  at: Context,
  client: Client,
  { organization, secret, yes }: Options,
  id: string,
  url: string,
): Promise<void> {
  const webhook = await client.webhooks.get(id, { organization, signal: at.signal });
  if (webhook.url === url) return;
  const now = webhook.url ?? "a job";
  await at.confirm(`Webhook ${id} sends to ${now}. Send it here instead, until you change it back?`, { yes });
  await client.webhooks.update(id, { url, ...(secret !== undefined && { secret }) }, { organization, signal: at.signal });
  const andSecret = webhook.hasSecret ? " --secret …" : "";
  if (webhook.url)
    at.print.note(`To change it back: keyhook webhooks update ${id} --url ${quotedForShell(webhook.url)}${andSecret}`);
}

/** Its own webhook follows without a question; others belong to somebody who decides. */
async function repoint(
  at: Context,
  client: Client,
  { organization, secret, yes }: Options,
  session: Session | undefined,
  { url, staleWebhooks }: Extract<RelayState, { kind: "moved" }>,
): Promise<void> {
  for (const { id } of staleWebhooks) {
    try {
      const question = `Webhook ${id} still sends to the old address. Change it?`;
      if (id !== session?.id) await at.confirm(question, { yes });
      const known = id === session?.id ? session.secret : secret;
      await client.webhooks.update(
        id,
        { url, ...(known !== undefined && { secret: known }) },
        { organization, signal: at.signal },
      );
      at.print.note(`Webhook ${id} sends to ${url} now.`);
    } catch (error) {
      at.print.always(
        `${error instanceof Error ? error.message : error} keyhook webhooks update ${id} --url ${quotedForShell(url)}`,
      );
    }
  }
}

/**
 * What was made for this run alone. After Ctrl-C too, for which the command's own signal is over; what cannot be cleared away is named. A
 * relay whose name was given stays: others may send to it, or listen.
 */
async function clear(at: Context, client: Client, options: Options, session: string | undefined, relay: string): Promise<void> {
  const { organization, watch } = options;
  const signal = AbortSignal.timeout(10_000);
  try {
    if (session !== undefined) {
      await client.webhooks.delete(session, { organization, signal });
      at.print.note(`Webhook ${session} deleted.`);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    at.print.always(`Webhook ${session} is still there (${reason}). To delete it: keyhook webhooks delete ${session}`);
  }
  // One that is left ends by itself.
  if (watch !== undefined && options.name === undefined) await client.relays.close(relay, { signal }).catch(() => undefined);
}
