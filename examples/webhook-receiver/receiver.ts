import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";

/** What a delivery says, as far as it is read here; all of it is in the service's event catalogue. */
export type Payload = {
  event: { scope: string; action: string };
  repo: { type: string; name: string };
};

export type ReceiverSettings = {
  /** The webhook's; `whsec_…` as the service generates them, or any text. */
  secret: string;
  /** What is done about an event. What it throws is answered with 500, and the service comes again later. */
  receive: (payload: Payload, deliveryId: string) => Promise<void> | void;
};

const BODY_MAX_BYTES = 8 * 1024 * 1024;
/** Older requests are refused: somebody may have overheard them. */
const AGE_MAX_SECONDS = 5 * 60;
const REMEMBERED_MAX = 10_000;

/**
 * Receives deliveries of a webhook: checks who sent it, that it is new, and that it was not received before, and answers at once.
 * `/maintenance` is closed for maintenance, to see what the service does about that.
 */
export function createReceiver({ secret, receive }: ReceiverSettings): Server {
  const received = new Set<string>();

  async function answer(request: IncomingMessage): Promise<{ status: number; text: string; headers?: Record<string, string> }> {
    if (request.url === "/maintenance") return { status: 503, text: "Closed for maintenance.", headers: { "retry-after": "30" } };
    if (request.method !== "POST") return { status: 405, text: "Deliveries are posted." };
    // The bytes as they came: JSON that was read and written again may differ, and then no signature fits.
    const body = await readBody(request);
    if (body === undefined) return { status: 413, text: "Too large." };
    const id = String(request.headers["webhook-id"] ?? "");
    const timestamp = String(request.headers["webhook-timestamp"] ?? "");
    if (!isSigned({ id, timestamp, body, signatures: String(request.headers["webhook-signature"] ?? "") }, secret)) {
      return { status: 401, text: "The signature is wrong." };
    }
    if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > AGE_MAX_SECONDS) return { status: 401, text: "Too old, or too new." };
    // At least once means that it may come twice: the id is the same each time.
    if (received.has(id)) return { status: 200, text: "Received before." };
    await receive(JSON.parse(body.toString()) as Payload, id);
    received.add(id);
    for (const oldest of received) if (received.size > REMEMBERED_MAX) received.delete(oldest);
    return { status: 200, text: "Received." };
  }

  return createServer((request, response) => {
    answer(request).then(
      ({ status, text, headers }) => response.writeHead(status, { "content-type": "text/plain", ...headers }).end(`${text}\n`),
      (error: unknown) => {
        console.error(error);
        response.writeHead(500, { "content-type": "text/plain" }).end("It went wrong here. Come again.\n");
      },
    );
  });
}

type Signed = { id: string; timestamp: string; body: Buffer; signatures: string };

/** As Standard Webhooks has it. While a secret is being changed there are two signatures, of which one has to fit. */
function isSigned({ id, timestamp, body, signatures }: Signed, secret: string): boolean {
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret);
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(" ").some((each) => {
    const given = each.startsWith("v1,") ? Buffer.from(each.slice("v1,".length), "base64") : Buffer.alloc(0);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
