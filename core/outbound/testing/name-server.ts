import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import ipaddr from "ipaddr.js";
import { onTestFinished } from "vitest";

/** If the result is undefined, the question gets no answer. */
export type Answer = (name: string, family: 4 | 6) => string[] | undefined;

const TYPES = { 1: 4, 28: 6 } as const;

/** RFC 1035. `servers` is an argument for resolveHost. */
export async function startNameServer(answer: Answer): Promise<{ servers: string[]; questions: string[] }> {
  const socket = createSocket("udp4");
  const questions: string[] = [];
  socket.on("message", (question, { port, address }) => {
    const { name, end } = readName(question);
    const type = question.readUInt16BE(end) as keyof typeof TYPES;
    questions.push(`${name} ${type === 1 ? "A" : "AAAA"}`);
    const addresses = answer(name, TYPES[type]);
    if (!addresses) return;
    const records = addresses.map((each) => {
      const bytes = ipaddr.parse(each).toByteArray();
      // A pointer to the question's name, class IN, a TTL of zero.
      return Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]);
    });
    const head = Buffer.from(question.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([head, question.subarray(12, end + 4), ...records]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => void socket.close());
  return { servers: [`127.0.0.1:${(socket.address() as AddressInfo).port}`], questions };
}

function readName(message: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join("."), end: at + 1 };
}
