import { readFile } from "node:fs/promises";
import { homedir, platform } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { createClient, listenToRelay, type RelayAnswer, type RelayedRequest } from "@keyhook/sdk";
import type { Receiver } from "../create-receiver.ts";
import { type IncomingRequest, readBody } from "../delivery/incoming-request.ts";
import { environment } from "../environment.ts";

export type RelayOptions = {
  /** The relay's name, under which it keeps its URL. Default: `receiver`. */
  name?: string;
  /** The service. Default: `KEYHOOK_URL`, or the only service to which `keyhook login` signed in. */
  url?: string;
  /** A token with the scope `webhooks`. Default: `KEYHOOK_TOKEN`, or the token of `keyhook login`. */
  token?: string;
  /** Whether to change webhooks when the relay's URL has changed. Default: asks on the terminal; without a terminal, no. */
  updateWebhooks?: boolean;
};

const ENDED = {
  replaced:
    "Another receiver has taken over the relay, and nothing arrives here anymore. Give the relay of one of the two another name: relay: { name }.",
  closed: "The relay was closed, and nothing arrives here anymore. Restart this program for a new URL.",
};

export async function connectRelay(receiver: Receiver, options: RelayOptions, print: (line: string) => void) {
  const { baseUrl, token } = await findService(options);
  const client = createClient({ baseUrl, token, userAgent: "keyhook-receiver" });
  const ending = new AbortController();
  let opened: (url: string) => void = () => undefined;
  const open = new Promise<string>((resolve) => {
    opened = resolve;
  });
  const moving: Promise<void>[] = [];
  const listening = listenToRelay(client, {
    name: options.name ?? "receiver",
    handle: (request) => handleRelayed(receiver, request),
    signal: ending.signal,
    onError: (error) => receiver.reportError(error, { during: "relay" }),
    onState(state) {
      if (state.kind === "open") {
        if (state.waiting > 0)
          print(
            `Now arriving: ${state.waiting} ${state.waiting === 1 ? "request" : "requests"} kept while no listener was connected.`,
          );
        opened(state.url);
      } else if (state.kind === "lost") print(`The relay's connection was lost: ${state.reason}`);
      else if (state.kind === "resumed") print("The relay's connection is back.");
      else
        moving.push(followMove(state, options.updateWebhooks).catch((error) => receiver.reportError(error, { during: "relay" })));
    },
  });
  // An error ends the listening, because a new attempt would fail too. Before the relay is open, the start also fails.
  listening.then(
    (reason) => reason !== "aborted" && print(ENDED[reason]),
    (error) => receiver.reportError(error, { during: "relay" }),
  );
  const url = await Promise.race([
    open,
    listening.then((reason) => {
      throw new Error(`The relay was ${reason} before it was ready.`);
    }),
  ]);
  return {
    url,
    async stop() {
      ending.abort();
      await listening.catch(() => undefined);
      await Promise.all(moving);
    },
  };

  type Moved = { url: string; previousUrl: string; staleWebhooks: { id: string; url: string }[] };
  async function followMove({ url, previousUrl, staleWebhooks }: Moved, mayUpdate: boolean | undefined): Promise<void> {
    print(`The relay's URL has changed, from ${previousUrl} to ${url}`);
    if (staleWebhooks.length === 0) return;
    print("Webhooks that still send to the old one:");
    for (const webhook of staleWebhooks) print(`  ${webhook.id}  ${webhook.url}`);
    if (!(mayUpdate ?? (await ask("Change them to the new one? [y/N] ", ending.signal)))) {
      print("Change them in the service, or start with relay: { updateWebhooks: true }.");
      return;
    }
    for (const webhook of staleWebhooks) {
      if (!webhook.url.startsWith(previousUrl)) continue;
      // The service requires the secret again to change the URL.
      const { hasSecret } = await client.webhooks.get(webhook.id);
      const secret = hasSecret ? receiver.secrets[0] : undefined;
      await client.webhooks.update(webhook.id, {
        url: url + webhook.url.slice(previousUrl.length),
        ...(secret !== undefined && { secret }),
      });
      print(`  ${webhook.id} now sends to the new URL.`);
    }
  }
}

async function findService({ url = environment.serviceUrl(), token = environment.token() }: RelayOptions) {
  if (url && token) return { baseUrl: url, token };
  const known = await readCredentials();
  const origin = url ? new URL(url).origin : Object.keys(known).length === 1 ? Object.keys(known)[0] : undefined;
  if (!origin)
    throw new Error("The URL of the service is missing. Set KEYHOOK_URL, or relay: { url }, such as https://hub.example.com.");
  const found = token ?? known[origin]?.accessToken;
  if (!found)
    throw new Error(`There is no token for ${origin}. Set KEYHOOK_TOKEN (scope webhooks), or sign in with keyhook login.`);
  // The token is read again for each request, because the command line renews the token.
  return { baseUrl: origin, token: token ?? (async () => (await readCredentials())[origin]?.accessToken ?? found) };
}

async function ask(question: string, signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question(question, { signal })).trim());
  } catch {
    return false;
  } finally {
    terminal.close();
  }
}

/** A relayed request has no socket, so its sender does not count as a user at this machine. */
async function handleRelayed(receiver: Receiver, request: RelayedRequest): Promise<RelayAnswer> {
  const { status, headers = {}, body } = await receiver.answer(fromRelay(request));
  const { connection: _, ...rest } = headers;
  return { status, headers: rest, body };
}

function fromRelay({ method, path, headers, body }: RelayedRequest): IncomingRequest {
  const url = `http://relay.invalid${path.startsWith("/") ? path : `/${path}`}`;
  const all = () => {
    const made = new Headers();
    for (const [name, value] of headers) {
      try {
        made.append(name, value);
      } catch {
        // The Fetch API does not accept the header's name or value.
      }
    }
    return made;
  };
  const found = all();
  return {
    method,
    url,
    path: path.split("?")[0] || "/",
    header: (name) => found.get(name) ?? undefined,
    headers: all,
    body: (limits) => readBody(chunk(body), { ...limits, promised: undefined }),
    asRequest: () => new Request(url, { method, headers: all() }),
  };
}

async function* chunk(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}

/** The credentials of `keyhook login` by origin. This package never writes them. */
async function readCredentials(): Promise<Record<string, { accessToken: string }>> {
  try {
    return JSON.parse(await readFile(join(configFolder(), "credentials.json"), "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new Error(`The credentials of keyhook login cannot be read: ${(error as Error).message}. Set KEYHOOK_TOKEN instead.`);
  }
}

function configFolder(): string {
  const named = environment.configDir();
  if (named) return named;
  if (platform() === "darwin") return join(homedir(), "Library", "Preferences", "keyhook");
  if (platform() === "win32") return join(environment.appData() ?? join(homedir(), "AppData", "Roaming"), "keyhook", "Config");
  return join(environment.configHome() ?? join(homedir(), ".config"), "keyhook");
}
