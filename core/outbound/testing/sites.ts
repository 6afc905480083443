import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { OutboundRequest, OutboundResult } from "../request.ts";
import { sendRequest } from "../send-request.ts";

export const KIB = 1024;
export const MIB = 1024 * KIB;

export const ask = (url: string, more: Partial<OutboundRequest> = {}) =>
  sendRequest({ url, deadlineMs: 10_000, maxBodyBytes: 5 * KIB, onExcess: "fail", ...more });

export async function listening(server: Server, host = "127.0.0.1", port = 0): Promise<number> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket.on("error", () => undefined));
  });
  server.listen(port, host);
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

export async function site(answer: RequestListener, host?: string, port?: number) {
  const server = createHttpServer(answer);
  const seen = { connections: 0 };
  server.on("connection", () => void seen.connections++);
  const bound = await listening(server, host, port);
  return { seen, port: bound, url: `http://${host ?? "127.0.0.1"}:${bound}` };
}

export async function rawSite(talk: (socket: Socket) => void): Promise<string> {
  return `http://127.0.0.1:${await listening(createServer(talk))}`;
}

export const textOf = (result: OutboundResult) =>
  result.outcome === "answered" ? Buffer.from(result.body).toString() : undefined;
