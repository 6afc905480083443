import { createInterface } from "node:readline/promises";
import { createClient, listenToRelay, type RelayAnswer, type RelayedRequest } from "@keyhook/sdk";
import type { Receiver } from "../create-receiver.ts";
import type { IncomingRequest } from "../delivery/incoming-request.ts";
import { readBody } from "../delivery/read-body.ts";
import { environment } from "../environment.ts";
import { readCredentials } from "./read-credentials.ts";

export type RelayOptions = {
  /** The same name has the same address (`receiver`). */
  name?: string;
  /** The service: by default `KEYHOOK_URL`, or the one that `keyhook login` signed in to. */
  url?: string;
  /** With the scope `webhooks`: by default `KEYHOOK_TOKEN`, or that of `keyhook login`. */
  token?: string;
  /** When the address has changed, whether webhooks that point to the old one are changed too. By default a terminal is asked. */
  updateWebhooks?: boolean;
};

const ENDED = {
  replaced: "Another receiver has taken over the relay: nothing comes here any more. Give one of them another name.",
  closed: "The relay was closed: nothing comes here any more. Start this again for a new address.",
};

/** Opens a public address at the service, and handles what is sent to it in this process. */
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
          print(`${state.waiting} ${state.waiting === 1 ? "request" : "requests"} waited while nobody listened; they come now.`);
        opened(state.url);
      } else if (state.kind === "lost") print(`The relay's connection is lost: ${state.reason}`);
      else if (state.kind === "resumed") print("The relay's connection is back.");
      else
        moving.push(followMove(state, options.updateWebhooks).catch((error) => receiver.reportError(error, { during: "relay" })));
    },
  });
  // It ends with an error only where another try would end the same; before it is open that is an error of the start.
  listening.then(
    (reason) => reason !== "aborted" && print(ENDED[reason]),
    (error) => receiver.reportError(error, { during: "relay" }),
  );
  const url = await Promise.race([
    open,
    listening.then((reason) => {
      throw new Error(`The relay ended before it was open: ${reason}.`);
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
    print(`The address has changed, from ${previousUrl} to ${url}`);
    if (staleWebhooks.length === 0) return;
    print("Webhooks that point to the old one:");
    for (const webhook of staleWebhooks) print(`  ${webhook.id}  ${webhook.url}`);
    if (!(mayUpdate ?? (await ask("Point them to the new one? [y/N] ", ending.signal)))) {
      print("Change them in the service, or start with relay: { updateWebhooks: true }.");
      return;
    }
    for (const webhook of staleWebhooks) {
      if (!webhook.url.startsWith(previousUrl)) continue;
      // With another address the service wants the secret again, from whoever has it anyway.
      const { hasSecret } = await client.webhooks.get(webhook.id);
      const secret = hasSecret ? receiver.secrets[0] : undefined;
      await client.webhooks.update(webhook.id, {
        url: url + webhook.url.slice(previousUrl.length),
        ...(secret !== undefined && { secret }),
      });
      print(`  ${webhook.id} now points to the new address.`);
    }
  }
}

async function findService({ url = environment.serviceUrl(), token = environment.token() }: RelayOptions) {
  if (url && token) return { baseUrl: url, token };
  const known = await readCredentials();
  const origin = url ? new URL(url).origin : Object.keys(known).length === 1 ? Object.keys(known)[0] : undefined;
  if (!origin) throw new Error("Which service? Set KEYHOOK_URL, or relay: { url }, such as https://hub.example.com.");
  const found = token ?? known[origin]?.accessToken;
  if (!found)
    throw new Error(`There is no token for ${origin}. Set KEYHOOK_TOKEN (scope webhooks), or sign in with keyhook login.`);
  // Read again each time: the command line renews it.
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

/** In the process, with no socket: what comes this way is nobody on this machine, and manages nothing. */
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
        // A name that the Fetch API has no place for.
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
