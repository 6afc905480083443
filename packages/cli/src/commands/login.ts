import { createClient, type DeviceCode, deviceLogin, revokeToken, type WhoAmI } from "@keyhook/sdk";
import type { Command } from "commander";
import { renderUnicodeCompact } from "uqr";
import { actionOf, type Context } from "../context.ts";
import { credentialsPath, isPlain, parseBaseUrl, readCredentialsFile } from "../credentials/credentials-file.ts";
import { CLI_CLIENT_ID, notSignedIn, storeCredentials } from "../credentials/stored-token.ts";
import { BadInput } from "../errors.ts";
import type { Terminal } from "../terminal.ts";

type Options = { token?: boolean; browser: boolean; scope?: string };
type Tokens = { accessToken: string; refreshToken?: string | undefined; expiresAt?: string | undefined };

export function addLoginCommand(program: Command, terminal: Terminal): void {
  program
    .command("login")
    .description("sign in to a service, with a code in a browser or with a token")
    .argument("[address]", "the service's URL, instead of --url")
    .option("--token", "read a token from standard input and store it")
    .option("--no-browser", "do not open a browser; only show the URL and the code")
    .option("--scope <scopes>", "request only these scopes, separated by spaces")
    .action(actionOf(terminal, login));
}

async function login(at: Context, { token, browser, scope }: Options, address: string | undefined): Promise<void> {
  const baseUrl = address === undefined ? await at.baseUrl() : parseBaseUrl(address);
  if (isPlain(baseUrl)) at.print.always(`Warning: ${baseUrl} is not encrypted. Others on the network can read your token.`);
  // A damaged file must be reported before the user goes to the browser.
  const before = (await readCredentialsFile(credentialsPath(at.terminal)))[baseUrl];
  const tokens: Tokens = token ? { accessToken: await readToken(at.terminal) } : await byDevice(at, baseUrl, { browser, scope });
  const me = await createClient({ baseUrl, token: tokens.accessToken }).whoami({ signal: at.signal });
  await storeCredentials(at.terminal, baseUrl, tokens);
  if (before?.refreshToken && before.accessToken !== tokens.accessToken) await forget(baseUrl, before.refreshToken);
  at.print.done(`Signed in to ${baseUrl} as ${me.name}`, { name: me.name, url: baseUrl, organizations: organizationsOf(me) });
}

const organizationsOf = ({ orgs }: WhoAmI): string[] | undefined => (orgs.length > 0 ? orgs.map(({ name }) => name) : undefined);

/** Ends the sign-in that a new one replaces, because nothing else would end it. */
async function forget(baseUrl: string, token: string): Promise<void> {
  await revokeToken({ baseUrl, clientId: CLI_CLIENT_ID, token, timeoutMs: 5_000 }).catch(() => undefined);
}

async function byDevice(
  at: Context,
  baseUrl: string,
  { browser, scope }: { browser: boolean; scope: string | undefined },
): Promise<Tokens> {
  const spinner = at.spin("Waiting for the browser. Press Ctrl-C to give up.");
  try {
    return await deviceLogin({
      baseUrl,
      clientId: CLI_CLIENT_ID,
      userAgent: "keyhook-cli",
      scope,
      signal: at.signal,
      wait: at.terminal.wait,
      onCode: (code) => show(at, code, browser),
    });
  } finally {
    spinner.stop();
  }
}

async function show({ print, terminal }: Context, code: DeviceCode, browser: boolean): Promise<void> {
  const { userCode, verificationUri, verificationUriComplete } = code;
  const line = `Open ${verificationUriComplete} and check that it shows the code ${userCode}`;
  if (print.format === "json" || print.format === "quiet") return print.always(line);
  if (print.format === "agent") return print.raw(line);
  print.raw(`To sign in, open this URL in a browser, on this device or another one:

    ${verificationUri}

and enter the code

    ${userCode}
`);
  if (terminal.stdout.isTTY) print.raw(`${renderUnicodeCompact(verificationUriComplete)}\n`);
  const isOpen = browser && terminal.stdout.isTTY === true && (await terminal.openBrowser(verificationUriComplete));
  print.hint(
    isOpen
      ? "Your browser should open it now. Waiting for you; press Ctrl-C to give up."
      : "Waiting for you; press Ctrl-C to give up.",
  );
}

const TOKEN_MAX_CHARACTERS = 4_096;

async function readToken({ stdin, stderr }: Terminal): Promise<string> {
  if (stdin.isTTY) stderr.write("Paste the token, then press Enter and Ctrl-D: ");
  let text = "";
  for await (const chunk of stdin) {
    text += chunk;
    if (text.length > TOKEN_MAX_CHARACTERS) break;
  }
  const token = text.trim();
  if (!/^[\x21-\x7e]{1,4096}$/.test(token))
    throw new BadInput("Standard input contains no token. Try: keyhook login --token < token.txt");
  return token;
}

export function addLogoutCommand(program: Command, terminal: Terminal): void {
  program
    .command("logout")
    .description("sign out, and delete the stored credentials; a personal access token stays valid")
    .action(actionOf(terminal, logout));
}

async function logout(at: Context): Promise<void> {
  const baseUrl = await at.baseUrl();
  const known = (await readCredentialsFile(credentialsPath(at.terminal)))[baseUrl];
  if (!known) throw notSignedIn(baseUrl);
  // A personal access token may be in use elsewhere, so the command line does not revoke it.
  const isEnded = known.refreshToken === undefined || (await end(baseUrl, known.refreshToken, at.signal));
  await storeCredentials(at.terminal, baseUrl, undefined);
  if (!isEnded) {
    at.print.always(
      `The service could not be reached, so the sign-in is still valid there. Revoke it at ${baseUrl}/settings/connected-applications`,
    );
  }
  at.print.done(`Signed out of ${baseUrl}`, { url: baseUrl });
}

async function end(baseUrl: string, token: string, signal: AbortSignal): Promise<boolean> {
  try {
    await revokeToken({ baseUrl, clientId: CLI_CLIENT_ID, token, signal, timeoutMs: 10_000 });
    return true;
  } catch {
    return false;
  }
}

export function addWhoamiCommand(program: Command, terminal: Terminal): void {
  program.command("whoami").description("show who is signed in, and to which service").action(actionOf(terminal, whoami));
}

async function whoami(at: Context): Promise<void> {
  const client = await at.client();
  const me = await client.whoami({ signal: at.signal });
  const email = me.type === "user" ? me.email : undefined;
  const organizations = me.orgs.map(({ name, roleInOrg }) => `${name} (${roleInOrg})`);
  at.print.done(`Signed in to ${client.baseUrl} as ${me.name}`, {
    name: me.name,
    fullName: me.fullname,
    email,
    organizations: organizations.length > 0 ? organizations : undefined,
    url: client.baseUrl,
  });
}
