import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** Starts a name server (RFC 1035). `answer` chooses the IPv4 address for each query. */
export async function startNameServer() {
  const socket = createSocket("udp4");
  const server = {
    address: "",
    answer: (_name: string): string | undefined => undefined,
    stop: () => void socket.close(),
  };
  socket.on("message", (question, { port, address }) => {
    let end = 12;
    const labels: string[] = [];
    for (let length = question[end] ?? 0; length > 0; length = question[end] ?? 0) {
      labels.push(question.toString("latin1", end + 1, end + 1 + length));
      end += length + 1;
    }
    const isIPv4 = question.readUInt16BE(end + 1) === 1;
    const found = isIPv4 ? server.answer(labels.join(".")) : undefined;
    // A pointer to the question's name, type A, class IN, TTL 0.
    const record = found
      ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...found.split(".").map(Number)])
      : Buffer.alloc(0);
    const head = Buffer.from(question.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(found ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([head, question.subarray(12, end + 5), record]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  server.address = `127.0.0.1:${(socket.address() as AddressInfo).port}`;
  return server;
}
