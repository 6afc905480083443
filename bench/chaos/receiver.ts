import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { Webhook as Verifier } from "standardwebhooks";

export type Arrival = { id: string; at: number; isVerified: boolean };

export type Receiver = {
  url: string;
  port: number;
  arrivals: Arrival[];
  secret: string;
  answer: (request: IncomingMessage, response: ServerResponse, arrival: Arrival) => void;
  stop(): void;
};

export async function startReceiver(secret: string, { host = "127.0.0.1", port = 0 } = {}): Promise<Receiver> {
  const receiver: Receiver = {
    ...{ url: "", port: 0, arrivals: [], secret },
    answer: (_request, response) => void response.end(),
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  const server = createServer((request, response) => {
    response.on("error", () => undefined);
    buffer(request).then(
      (body) => {
        const id = String(request.headers["webhook-id"] ?? "");
        const arrival = { id, at: Date.now(), isVerified: isVerified(receiver.secret, body.toString(), request) };
        receiver.arrivals.push(arrival);
        receiver.answer(request, response, arrival);
      },
      () => undefined, // the sender has disconnected
    );
  });
  server.listen(port, host);
  await once(server, "listening");
  receiver.port = (server.address() as AddressInfo).port;
  receiver.url = `http://${host}:${receiver.port}/hook`;
  return receiver;
}

function isVerified(secret: string, body: string, { headers }: IncomingMessage): boolean {
  try {
    // A generated secret has the form of Standard Webhooks. Any other secret is used as its own bytes.
    new Verifier(secret, secret.startsWith("whsec_") ? {} : { format: "raw" }).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
