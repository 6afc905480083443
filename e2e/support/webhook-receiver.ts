import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "@playwright/test";
import { Webhook } from "standardwebhooks";

export type Received = { id: string; headers: IncomingHttpHeaders; body: string };

export class WebhookReceiver implements AsyncDisposable {
  readonly received: Received[] = [];
  status = 200;
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      this.received.push({ id: String(request.headers["webhook-id"]), headers: request.headers, body });
      response.writeHead(this.status, { "content-type": "application/json", "x-answered-by": "receiver" });
      response.end(JSON.stringify({ taken: this.status < 300 }));
    });
  });

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hooks`;
  }

  /** Waits for the delivery after the first `after` ones. An independent library verifies the delivery. */
  async next(after: number, secret: string, kind: { scope: string; action: string }): Promise<Received> {
    await expect.poll(() => this.received.length, { message: "a delivery" }).toBeGreaterThan(after);
    const delivery = this.received[after] as Received;
    const payload = new Webhook(secret).verify(delivery.body, delivery.headers as Record<string, string>);
    expect(payload).toMatchObject({ event: kind, webhook: { version: 3 } });
    expect(delivery.headers["x-webhook-secret"]).toBe(secret);
    return delivery;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
