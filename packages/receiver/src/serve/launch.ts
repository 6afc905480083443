import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Receiver } from "../create-receiver.ts";
import { environment } from "../environment.ts";
import type { RelayOptions } from "./connect-relay.ts";

export type LaunchOptions = {
  /** Default: `PORT`, or else 7860 or the next free port. 0: any free port. */
  port?: number;
  /** Default: `HOST`, or else `127.0.0.1`, this machine only. `0.0.0.0` listens on all addresses. */
  host?: string;
  /** Whether SIGTERM and SIGINT stop the server, which first waits for its handlers. Default: true. */
  handleSignals?: boolean;
  /** Makes the receiver reachable at a URL of the service. `true`: with the name `receiver`. */
  relay?: boolean | RelayOptions;
  /** Replaces standard output. */
  print?: (line: string) => void;
};

export type Launched = {
  /** The server's URL, such as `http://127.0.0.1:7860`. */
  url: string;
  port: number;
  /** The public URL. Absent without `relay`. */
  relayUrl?: string;
  /** Stops accepting connections. `receiver.close()` waits for the handlers first. */
  stop(): Promise<void>;
};

const DEFAULT_PORT = 7860;
const MORE_PORTS = 100;

export async function launch(receiver: Receiver, options: LaunchOptions): Promise<Launched> {
  const { host = environment.host() ?? "127.0.0.1", handleSignals = true } = options;
  // A terminal would obey control characters in texts from the relay's service.
  const print = (line: string) => (options.print ?? console.log)(line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd"));
  const server = createServer({ requestTimeout: 60_000, headersTimeout: 15_000 }, (request, response) => {
    void receiver.handler(request, response);
  });
  const chosen = options.port ?? environment.port();
  await listen(server, host, chosen);
  const { port } = server.address() as AddressInfo;
  const shown = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;
  const url = `http://${shown}:${port}`;
  let relay: { url: string; stop(): Promise<void> } | undefined;
  if (options.relay) {
    try {
      const { connectRelay } = await import("./connect-relay.ts");
      relay = await connectRelay(receiver, options.relay === true ? {} : options.relay, print);
    } catch (error) {
      server.close();
      throw error;
    }
  }
  announce(receiver, { url, relayUrl: relay?.url, print });
  const removeSignals = handleSignals ? stopAtSignals(receiver, print) : () => undefined;
  return {
    url,
    port,
    ...(relay && { relayUrl: relay.url }),
    async stop() {
      removeSignals();
      await relay?.stop();
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      // Clients get time to read their responses.
      const timer = setTimeout(() => server.closeAllConnections(), 1_000);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function listen(server: Server, host: string, chosen: number | undefined): Promise<void> {
  const last = chosen === undefined ? DEFAULT_PORT + MORE_PORTS : chosen;
  for (let port = chosen ?? DEFAULT_PORT; ; port++) {
    try {
      server.listen(port, host);
      await once(server, "listening");
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EADDRINUSE" && port < last) continue;
      if (code === "EADDRINUSE") throw new Error(`Port ${port} is in use. Choose another one with launch({ port }) or PORT.`);
      throw error;
    }
  }
}

function stopAtSignals(receiver: Receiver, print: (line: string) => void): () => void {
  const signals = ["SIGTERM", "SIGINT"] as const;
  const remove = () => {
    for (const signal of signals) process.removeListener(signal, stop);
  };
  const stop = (signal: NodeJS.Signals) => {
    // A second signal ends the process at once.
    remove();
    const { size } = receiver.reception.running;
    print(`${signal}: waiting for ${size} ${size === 1 ? "delivery" : "deliveries"}`);
    void receiver.close().then(() => {
      if (process.listenerCount(signal) === 0) process.exit(0);
    });
  };
  for (const signal of signals) process.on(signal, stop);
  return remove;
}

function announce(
  receiver: Receiver,
  { url, relayUrl, print }: { url: string; relayUrl: string | undefined; print: (line: string) => void },
): void {
  const settings = webhookSettingsUrl(receiver);
  print("");
  print(`Webhooks are received at ${relayUrl ?? url}`);
  if (receiver.handlers.size === 0) print("  There is no handler yet: webhook(async function onPush(payload) { … })");
  for (const name of receiver.handlers.keys()) print(`  POST ${(relayUrl ?? url).replace(/\/$/, "")}/webhooks/${name}`);
  print(settings ? `Enter the URL at ${settings}` : "Enter the URL in the service, under Settings, Webhooks.");
  print(`Recent deliveries are listed at ${url}/?token=${receiver.pageToken}`);
  if (receiver.secrets.length === 0) {
    print("");
    print("WARNING: there is no webhook secret, so anybody who finds these URLs can send requests to them.");
    print("         Set WEBHOOK_SECRET, or createReceiver({ secret }), to the webhook's secret.");
  } else {
    print(receiver.secrets.length === 1 ? "The webhook secret is set." : `${receiver.secrets.length} webhook secrets are set.`);
  }
  print("");
}

export function webhookSettingsUrl({ options }: Receiver): string | undefined {
  const service = options.serviceUrl ?? environment.serviceUrl();
  return service && URL.canParse(service) ? new URL("/settings/webhooks", service).href : undefined;
}
