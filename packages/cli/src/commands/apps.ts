import type { ListedOAuthApp, OAuthAppChanges } from "@keyhook/sdk";
import type { Command } from "commander";
import { actionOf, type Context } from "../context.ts";
import { BadInput } from "../errors.ts";
import { duration, many, type OrganizationOption, withOrganization } from "../options.ts";
import type { Terminal } from "../terminal.ts";

export function addAppsCommands(program: Command, terminal: Terminal): void {
  const apps = program.command("apps").description("OAuth apps, which let people sign in with the service");
  for (const add of [
    addAppLsCommand,
    addAppInfoCommand,
    addAppCreateCommand,
    addAppUpdateCommand,
    addAppRotateSecretCommand,
    addAppDeleteCommand,
  ]) {
    add(apps, terminal);
  }
}

function addAppLsCommand(apps: Command, terminal: Terminal): void {
  const command = apps.command("ls").alias("list").description("list OAuth apps");
  withOrganization(command).action(actionOf(terminal, ls));
}

async function ls(at: Context, { organization }: OrganizationOption): Promise<void> {
  const found: ListedOAuthApp[] = [];
  for await (const app of (await at.client()).apps.list({ organization, signal: at.signal })) found.push(app);
  at.print.list(
    found.map(({ id, name, clientId, isConfidential, scopes, userCount }) => ({
      id,
      name,
      clientId,
      confidential: isConfidential,
      scopes,
      users: userCount,
    })),
    { items: found },
  );
}

function addAppInfoCommand(apps: Command, terminal: Terminal): void {
  const command = apps.command("info").description("show an app").argument("<id>", "the app's ID");
  withOrganization(command).action(actionOf(terminal, info));
}

async function info(at: Context, { organization }: OrganizationOption, id: string): Promise<void> {
  at.print.record(await (await at.client()).apps.get(id, { organization, signal: at.signal }));
}

type CreateOptions = SettingsOptions & { confidential?: boolean; bound?: boolean };

function addAppCreateCommand(apps: Command, terminal: Terminal): void {
  const command = apps
    .command("create")
    .description("create an OAuth app")
    .argument("<name>", "the name that users see")
    .option("--confidential", "give it a secret, which is shown only once")
    .option("--bound", "bind it to its organization, for token exchange");
  withOrganization(withSettings(command)).action(actionOf(terminal, create));
}

async function create(at: Context, options: CreateOptions, name: string): Promise<void> {
  const { confidential: isConfidential, bound: isBound, organization } = options;
  const input = { ...settingsOf(options), name, isConfidential, isBound };
  const { app, secret } = await (await at.client()).apps.create(input, { organization, signal: at.signal });
  at.print.done("App created", { id: app.id, clientId: app.clientId, secret });
  if (secret !== undefined && at.print.format === "quiet") at.print.always(`secret: ${secret}`);
}

function addAppUpdateCommand(apps: Command, terminal: Terminal): void {
  const command = apps
    .command("update")
    .description("change an OAuth app; options that you leave out change nothing")
    .argument("<id>", "the app's ID")
    .option("--name <name>", "the name that users see");
  withOrganization(withSettings(command)).action(actionOf(terminal, update));
}

async function update(at: Context, options: SettingsOptions, id: string): Promise<void> {
  const changes = settingsOf(options);
  if (Object.keys(changes).length === 0) throw new BadInput("Specify something to change: --help lists the options.");
  const { organization } = options;
  const app = await (await at.client()).apps.update(id, changes, { organization, signal: at.signal });
  at.print.done("App updated", { id: app.id });
}

function addAppRotateSecretCommand(apps: Command, terminal: Terminal): void {
  const command = apps
    .command("rotate-secret")
    .description("give an app a new secret, or its first one; it is shown only once")
    .argument("<id>", "the app's ID")
    .option("--overlap <duration>", "keep the previous secret working for a time such as 1h, at most 7d", duration)
    .option("-y, --yes", "do not ask for confirmation");
  withOrganization(command).action(actionOf(terminal, rotateSecret));
}

type RotateOptions = OrganizationOption & { overlap?: number; yes?: boolean };

async function rotateSecret(at: Context, { organization, overlap, yes }: RotateOptions, id: string): Promise<void> {
  if (!overlap) await at.confirm(`Give app ${id} a new secret? A previous one stops working immediately.`, { yes });
  const client = await at.client();
  const { app, secret } = await client.apps.rotateSecret(id, { overlapSeconds: overlap, organization, signal: at.signal });
  at.print.done("Secret rotated", { id: app.id, secret });
  if (at.print.format === "quiet") at.print.always(`secret: ${secret}`);
}

function addAppDeleteCommand(apps: Command, terminal: Terminal): void {
  const command = apps
    .command("delete")
    .description("delete an app permanently; nobody can sign in to it anymore, and all its tokens stop working immediately")
    .argument("<id>", "the app's ID")
    .option("-y, --yes", "do not ask for confirmation");
  withOrganization(command).action(actionOf(terminal, remove));
}

async function remove(at: Context, { organization, yes }: OrganizationOption & { yes?: boolean }, id: string): Promise<void> {
  await at.confirm(`Delete app ${id} and revoke all its tokens?`, { yes });
  await (await at.client()).apps.delete(id, { organization, signal: at.signal });
  at.print.done("App deleted", { id });
}

type SettingsOptions = OrganizationOption & {
  name?: string;
  description?: string;
  homepage?: string;
  redirectUri?: string[];
  logoutUri?: string[];
  scope?: string[];
  device?: boolean;
  refresh?: boolean;
};

function withSettings(command: Command): Command {
  return command
    .option("--description <text>", "its description, which users see")
    .option("--homepage <url>", "its website")
    .option("--redirect-uri <uri>", "where users return after signing in; repeatable", many)
    .option("--logout-uri <uri>", "where users return after signing out; repeatable", many)
    .option("--scope <scope>", "a scope that it may request; repeatable", many)
    .option("--device", "allow sign-in on devices, with a code")
    .option("--no-device", "forbid sign-in on devices")
    .option("--refresh", "always issue refresh tokens, even if the app does not request offline_access")
    .option("--no-refresh", "issue refresh tokens only with the scope offline_access or in the device flow");
}

function settingsOf({
  name,
  description,
  homepage,
  redirectUri,
  logoutUri,
  scope,
  device,
  refresh,
}: SettingsOptions): OAuthAppChanges {
  const settings = {
    name,
    description,
    homepageUrl: homepage,
    redirectUris: redirectUri,
    postLogoutRedirectUris: logoutUri,
    scopes: scope,
    isDeviceFlowAllowed: device,
    isRefreshAllowed: refresh,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
