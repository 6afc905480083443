import { randomBytes } from "node:crypto";
import {
  type Client,
  forwardTo,
  listenToRelay,
  type RelayAnswer,
  type RelayedRequest,
  type RelayState,
  type WatchedItemInput,
} from "@keyhook/sdk";
import type { Command } from "commander";
import { actionOf, type Context } from "../../context.ts";
import { BadInput, Refused } from "../../errors.ts";
import { manyOf, type OrganizationOption, watchedItem, webAddress, withOrganization } from "../../options.ts";
import { secretOf } from "../../output/interaction.ts";
import type { Printer } from "../../output/printer.ts";
import { quotedForShell } from "../../output/printer.ts";
import type { Terminal } from "../../terminal.ts";
import { domainWords } from "./manage.ts";

type Options = OrganizationOption & {
  forwardTo: string;
  webhook?: string;
  watch?: WatchedItemInput[];
  domain?: (typeof domainWords)[number][];
  secret?: string | undefined;
  name?: string;
  yes?: boolean;
};

type Session = { id: string; secret?: string };

export function addListenCommand(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command("listen")
    .description("forward deliveries to a server on this machine while this command runs")
    .requiredOption("--forward-to <url>", "the server, such as http://localhost:3000/webhooks/push", webAddress)
    .option("--webhook <id>", "send this webhook's deliveries here")
    .option(
      "--watch <type:name>",
      "create a webhook that watches this, and delete it when the command ends; repeatable",
      watchedItem,
    )
    .option("--domain <domain>", "with --watch: repo or discussions; repeatable", manyOf(domainWords))
    .option(
      "--secret <secret>",
      "with --webhook: its secret, if it has one, which the service requires to change the target; - reads it from standard input",
    )
    .option("--name <name>", "the relay's name; it keeps its public URL until 72 hours after the command was last running")
    .option("-y, --yes", "change webhooks without asking for confirmation");
  withOrganization(command).action(actionOf(terminal, listen));
}

async function listen(at: Context, given: Options): Promise<void> {
  const { webhook: id, watch, organization } = given;
  if (id !== undefined && watch !== undefined) throw new BadInput("Specify --webhook or --watch, not both.");
  const options = { ...given, secret: await secretOf(at.terminal, given.secret) };
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
      at.print.always(`Webhook ${made.id} created; it is deleted when this command ends. Its signing secret: ${made.secret}`);
    }
    const onState = (state: RelayState) => {
      printState(at, options, state);
      if (state.kind === "moved") void repoint(at, client, options, session, state);
    };
    if (previousUrl !== undefined) onState({ kind: "moved", url: relay.url, previousUrl, staleWebhooks });
    const handle = printRequests(at.print, forwardTo(options.forwardTo));
    const end = await listenToRelay(client, { name, handle, signal: at.signal, onState });
    if (end === "replaced") throw new Refused(`Another listener has taken over relay ${name}. Choose another name with --name.`);
    if (end === "closed") throw new Refused(`Relay ${name} was closed.`);
  } finally {
    await clear(at, client, options, session?.id, name);
  }
}

function printState({ print }: Context, { forwardTo: target }: Options, state: RelayState): void {
  if (state.kind === "open") {
    print.note(`Listening: ${state.url} is forwarded to ${target}. Press Ctrl-C to stop.`);
    if (state.waiting > 0) print.note(`${state.waiting === 1 ? "1 request was" : `${state.waiting} requests were`} waiting.`);
  }
  if (state.kind === "moved") print.note(`This relay has a new URL: ${state.url} (the previous one no longer works).`);
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
  const now = webhook.url ? `sends to ${webhook.url}` : "runs a job";
  await at.confirm(`Webhook ${id} ${now}. Send its deliveries here until you change it back?`, { yes });
  await client.webhooks.update(id, { url, ...(secret !== undefined && { secret }) }, { organization, signal: at.signal });
  const andSecret = webhook.hasSecret ? " --secret -" : "";
  if (webhook.url)
    at.print.note(`To change it back: keyhook webhooks update ${id} --url ${quotedForShell(webhook.url)}${andSecret}`);
}

/** Asks before changing a webhook that this run did not create. */
async function repoint(
  at: Context,
  client: Client,
  { organization, secret, yes }: Options,
  session: Session | undefined,
  { url, staleWebhooks }: Extract<RelayState, { kind: "moved" }>,
): Promise<void> {
  for (const { id } of staleWebhooks) {
    try {
      const question = `Webhook ${id} still sends to the old URL. Change it?`;
      if (id !== session?.id) await at.confirm(question, { yes });
      const known = id === session?.id ? session.secret : secret;
      await client.webhooks.update(
        id,
        { url, ...(known !== undefined && { secret: known }) },
        { organization, signal: at.signal },
      );
      at.print.note(`Webhook ${id} now sends to ${url}.`);
    } catch (error) {
      at.print.always(
        `${error instanceof Error ? error.message : error} To change it yourself: keyhook webhooks update ${id} --url ${quotedForShell(url)}`,
      );
    }
  }
}

/** Runs after Ctrl-C too, so it has its own signal. A relay that the user named stays, because other programs may use it. */
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
    at.print.always(`Webhook ${session} could not be deleted (${reason}). To delete it: keyhook webhooks delete ${session}`);
  }
  // A relay that remains expires by itself.
  if (watch !== undefined && options.name === undefined) await client.relays.close(relay, { signal }).catch(() => undefined);
}

type Handle = (request: RelayedRequest) => Promise<RelayAnswer> | RelayAnswer;

function printRequests(print: Printer, handle: Handle): Handle {
  return async (request) => {
    const startedAt = Date.now();
    const answer = await handle(request);
    print.row({
      delivery: header(request, "webhook-id") ?? request.id,
      time: new Date(startedAt).toISOString(),
      method: request.method,
      path: request.path || "/",
      event: eventOf(request),
      status: answer.status,
      ms: Date.now() - startedAt,
    });
    if (answer.status === 502 && print.format === "human") print.note(`Reason: ${textOf(answer)}`);
    return answer;
  };
}

const header = ({ headers }: RelayedRequest, name: string): string | undefined =>
  headers.find(([one]) => one.toLowerCase() === name)?.[1];

function eventOf({ body }: RelayedRequest): string | undefined {
  try {
    const { event, repo } = JSON.parse(new TextDecoder().decode(body));
    return typeof event?.scope === "string" ? `${event.scope}.${event.action} ${repo?.type}:${repo?.name}` : undefined;
  } catch {
    return undefined;
  }
}

const textOf = ({ body }: RelayAnswer): string =>
  (typeof body === "string" ? body : new TextDecoder().decode(body)).slice(0, 300);
