import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { generate } from "selfsigned";
import { provideSettings } from "../env.ts";

export type HttpsSite = {
  origin: string;
  host: string;
  asked: string[];
  connections: () => number;
  answer(listener: Listener): void;
  stop(): Promise<void>;
};

export type Listener = (req: IncomingMessage, res: ServerResponse) => unknown;

const NAMES = [
  { type: 2, value: "localhost" },
  { type: 7, ip: "127.0.0.1" },
  { type: 7, ip: "127.0.0.2" },
  { type: 7, ip: "::1" },
] as const;

/** Node reads trusted certificates once, before the first outgoing request. */
const keeper = globalThis as typeof globalThis & { testCertificate?: Promise<{ key: string; cert: string }> };

async function trustedCertificate(): Promise<{ key: string; cert: string }> {
  const made = await generate([{ name: "commonName", value: "a test" }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [
      { name: "basicConstraints", cA: true },
      { name: "subjectAltName", altNames: [...NAMES] },
    ],
  });
  setDefaultCACertificates([...getCACertificates("default"), made.cert]);
  return { key: made.private, cert: made.cert };
}

export async function startHttpsSite(listener: Listener = notFound): Promise<HttpsSite> {
  keeper.testCertificate ??= trustedCertificate();
  // The operator must allow addresses outside the public internet (S119).
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8,::1/128" });
  let answer = listener;
  let connections = 0;
  const asked: string[] = [];
  const open = new Set<Duplex>();
  const server = createServer(await keeper.testCertificate, (req, res) => {
    asked.push(req.url ?? "");
    answer(req, res);
  });
  server.on("connection", (socket) => {
    connections += 1;
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  server.listen(0);
  await once(server, "listening");
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  return {
    origin: `https://${host}`,
    host,
    asked,
    connections: () => connections,
    answer: (next) => {
      answer = next;
    },
    stop: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function notFound(_req: IncomingMessage, res: ServerResponse): void {
  res.writeHead(404).end();
}
