import { createClient, type DeviceCode, deviceLogin, revokeToken, type WhoAmI } from "@keyhook/sdk";
import type { Command } from "commander";
import { renderUnicodeCompact } from "uqr";
import { act, type Context } from "../context.ts";
import { isPlain, parseBaseUrl } from "../credentials/base-url.ts";
import { credentialsPath, readCredentialsFile } from "../credentials/credentials-file.ts";
import { CLI_CLIENT_ID, storeCredentials } from "../credentials/stored-token.ts";
import { BadInput } from "../errors.ts";
import type { Terminal } from "../terminal.ts";

type Options = { token?: boolean; browser: boolean; scope?: string };
type Tokens = { accessToken: string; refreshToken?: string | undefined; expiresAt?: string | undefined };

export function addLoginCommand(program: Command, terminal: Terminal): void {
  program
    .command("login")
    .description("sign in to a service: with a code in a browser, or with a token")
    .argument("[address]", "where the service is; the same as --url")
    .option("--token", "read a token from standard input and keep it")
    .option("--no-browser", "open no browser: only show the address and the code")
    .option("--scope <scopes>", "ask for these scopes only, separated by spaces")
    .action(act(terminal, login));
}

async function login(at: Context, { token, browser, scope }: Options, address: string | undefined): Promise<void> {
  const baseUrl = address === undefined ? await at.baseUrl() : parseBaseUrl(address);
  if (isPlain(baseUrl)) at.print.always(`Warning: ${baseUrl} is not encrypted. Whoever is on the way can read your token.`);
  // A broken file is told of before the person has gone to the browser.
  const before = (await readCredentialsFile(credentialsPath(at.terminal)))[baseUrl];
  const tokens: Tokens = token ? { accessToken: await readToken(at.terminal) } : await byDevice(at, baseUrl, { browser, scope });
  const me = await createClient({ baseUrl, token: tokens.accessToken }).whoami({ signal: at.signal });
  await storeCredentials(at.terminal, baseUrl, tokens);
  if (before?.refreshToken && before.accessToken !== tokens.accessToken) await forget(baseUrl, before.refreshToken);
  at.print.done(`Signed in to ${baseUrl} as ${me.name}`, { name: me.name, url: baseUrl, organizations: organizationsOf(me) });
}

const organizationsOf = ({ orgs }: WhoAmI): string[] | undefined => (orgs.length > 0 ? orgs.map(({ name }) => name) : undefined);

/** The sign-in that this one replaces is of no more use: nobody would ever end it. */
async function forget(baseUrl: string, token: string): Promise<void> {
  await revokeToken({ baseUrl, clientId: CLI_CLIENT_ID, token, timeoutMs: 5_000 }).catch(() => undefined);
}

async function byDevice(
  at: Context,
  baseUrl: string,
  { browser, scope }: { browser: boolean; scope: string | undefined },
): Promise<Tokens> {
  const spinner = at.spin("Waiting for the browser. Ctrl-C gives up.");
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
  const line = `Open ${verificationUriComplete} and compare the code ${userCode}`;
  if (print.format === "json" || print.format === "quiet") return print.always(line);
  if (print.format === "agent") return print.raw(line);
  print.raw(`To sign in, open this address in a browser, on this or any other device:

    ${verificationUri}

and enter the code

    ${userCode}
`);
  if (terminal.stdout.isTTY) print.raw(`${renderUnicodeCompact(verificationUriComplete)}\n`);
  const isOpen = browser && terminal.stdout.isTTY === true && (await terminal.openBrowser(verificationUriComplete));
  print.hint(isOpen ? "Your browser was opened there. Waiting; Ctrl-C gives up." : "Waiting; Ctrl-C gives up.");
}

const TOKEN_MAX_CHARACTERS = 4_096;

async function readToken({ stdin, stderr }: Terminal): Promise<string> {
  if (stdin.isTTY) stderr.write("Paste the token, then press Enter and Ctrl-D: ");
  let text = "";
  for await (const piece of stdin) {
    text += piece;
    if (text.length > TOKEN_MAX_CHARACTERS) break;
  }
  const token = text.trim();
  if (!/^[\x21-\x7e]{1,4096}$/.test(token))
    throw new BadInput("Standard input held no token. Try: keyhook login --token < token.txt");
  return token;
}
