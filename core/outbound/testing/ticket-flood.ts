import { createCipheriv, createHmac } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

/**
 * A host that answers each request with session tickets without end. Node cannot send tickets, so a proxy before a TLS server
 * encrypts them with the server's logged secret (RFC 8446 §4.6.1, §5.2, §7.3).
 * @returns its port
 */
export async function startTicketFlood(credentials: { cert: string; key: string }): Promise<{ port: number; close(): void }> {
  let secret = Buffer.alloc(0);
  const server = createTlsServer({ ...credentials, minVersion: "TLSv1.3", ciphers: "TLS_AES_128_GCM_SHA256" });
  server.on("keylog", (line) => {
    const [, found] = /^SERVER_TRAFFIC_SECRET_0 \w+ (\w+)/.exec(String(line)) ?? [];
    if (found) secret = Buffer.from(found, "hex");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const flood = createServer((client) => {
    const inner = connect((server.address() as AddressInfo).port, "127.0.0.1");
    for (const socket of [client, inner]) socket.on("error", () => undefined);
    client.on("close", () => inner.destroy());
    client.pipe(inner).pipe(client);
    // By the time of the request, the server has sent two tickets.
    server.once("secureConnection", (socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => setTimeout(() => sendTickets(client, secret, 2n), 50));
    });
  }).listen(0, "127.0.0.1");
  await once(flood, "listening");
  return {
    port: (flood.address() as AddressInfo).port,
    close: () => {
      flood.close();
      server.close();
    },
  };
}

/** A ticket of one byte, which lives for a day, without a nonce or extensions. */
const TICKET = Buffer.from("0400000e000151800102030400000109" + "0000", "hex");
const APPLICATION_DATA = Buffer.from([23, 3, 3]);
const HANDSHAKE = 22;

function sendTickets(client: Socket, secret: Buffer, sent: bigint): void {
  const [key, iv] = [derive(secret, "key", 16), derive(secret, "iv", 12)];
  const content = Buffer.concat([...Array<Buffer>(800).fill(TICKET), Buffer.from([HANDSHAKE])]);
  let sequence = sent;
  const record = () => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(content.length + 16);
    const head = Buffer.concat([APPLICATION_DATA, length]);
    const nonce = Buffer.from(iv);
    nonce.writeBigUInt64BE(nonce.readBigUInt64BE(4) ^ sequence, 4);
    sequence += 1n;
    const cipher = createCipheriv("aes-128-gcm", key, nonce).setAAD(head);
    return Buffer.concat([head, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
  };
  const timer = setInterval(() => client.write(record()), 10);
  client.once("close", () => clearInterval(timer));
}

/** HKDF-Expand-Label, for at most 32 bytes. */
function derive(secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])]);
  return createHmac("sha256", secret).update(info).digest().subarray(0, length);
}
