import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Receiver } from "../create-receiver.ts";
import { environment } from "../environment.ts";
import { announce } from "./announce.ts";
import type { RelayOptions } from "./connect-relay.ts";

export type LaunchOptions = {
  /** By default `PORT`, and else 7860 or the next one that is free. 0: any. */
  port?: number;
  /** By default `HOST`, and else `127.0.0.1`: this machine alone. `0.0.0.0` for every address. */
  host?: string;
  /** Whether SIGTERM and SIGINT stop it, after what runs is done (true). */
  handleSignals?: boolean;
  /** Makes it reachable at an address of the service. `true`: with the name `receiver`. */
  relay?: boolean | RelayOptions;
  /** Where it says what it does, in place of standard output. */
  print?: (line: string) => void;
};

export type Launched = {
  /** `http://127.0.0.1:7860` */
  url: string;
  port: number;
  /** What was made public, with `relay`. */
  relayUrl?: string;
  /** Stops taking connections; `receiver.close()` waits for the handlers before. */
  stop(): Promise<void>;
};

const DEFAULT_PORT = 7860;
const PORTS_TRIED = 100;

export async function launch(receiver: Receiver, options: LaunchOptions): Promise<Launched> {
  const { host = environment.host() ?? "127.0.0.1", handleSignals = true, print = console.log } = options;
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
      // What was answered gets its time to be read.
      const timer = setTimeout(() => server.closeAllConnections(), 1_000);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function listen(server: Server, host: string, chosen: number | undefined): Promise<void> {
  const last = chosen === undefined ? DEFAULT_PORT + PORTS_TRIED : chosen;
  for (let port = chosen ?? DEFAULT_PORT; ; port++) {
    try {
      server.listen(port, host);
      await once(server, "listening");
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EADDRINUSE" && port < last) continue;
      if (code === "EADDRINUSE") throw new Error(`Port ${port} is in use. Give another one, by launch({ port }) or PORT.`);
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
    // A second one ends it at once, as if nobody listened.
    remove();
    print(`${signal}: waiting for ${receiver.reception.running.size} deliveries`);
    void receiver.close().then(() => {
      if (process.listenerCount(signal) === 0) process.exit(0);
    });
  };
  for (const signal of signals) process.on(signal, stop);
  return remove;
}
