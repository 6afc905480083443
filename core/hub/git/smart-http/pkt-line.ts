import type { Readable } from "node:stream";

/** Git's framing (gitprotocol-common): four hex digits of length, themselves included, then so many bytes; `0000` is a flush. */
export const FLUSH = Buffer.from("0000");

const HEADER_BYTES = 4;
const LINE_MAX_BYTES = 65_520;
/** What fits into one packet of the side band, whose first byte is its number. */
const BAND_MAX_BYTES = LINE_MAX_BYTES - HEADER_BYTES - 1;

/** What was sent is not git's protocol. */
export class MalformedPkt extends Error {
  override name = "MalformedPkt";
}

export function pktLine(content: string | Uint8Array): Buffer {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return Buffer.concat([Buffer.from((bytes.length + HEADER_BYTES).toString(16).padStart(4, "0")), bytes]);
}

/** Side band: 1 is the answer itself, 2 is for people, 3 is a failure. */
export function bandPackets(band: 1 | 2 | 3, content: Uint8Array): Buffer {
  const packets: Buffer[] = [];
  for (let at = 0; at < content.length; at += BAND_MAX_BYTES) {
    packets.push(pktLine(Buffer.concat([Buffer.of(band), content.subarray(at, at + BAND_MAX_BYTES)])));
  }
  return Buffer.concat(packets);
}

function parseLength(header: Uint8Array): number {
  const text = Buffer.from(header).toString("latin1");
  if (!/^[0-9a-f]{4}$/i.test(text)) throw new MalformedPkt("a packet has no length");
  const length = Number.parseInt(text, 16);
  // 1 and 2 are the delimiters of protocol version 2, which is not spoken where we read.
  if (length !== 0 && length < HEADER_BYTES) throw new MalformedPkt("a packet has an impossible length");
  if (length > LINE_MAX_BYTES) throw new MalformedPkt("a packet is too long");
  return length;
}

/**
 * Reads one packet from the head of a stream, and leaves what follows in it. Null is a flush; undefined is the end of the stream.
 * @throws MalformedPkt
 */
export async function readPkt(stream: Readable): Promise<Buffer | null | undefined> {
  const header = await readExactly(stream, HEADER_BYTES);
  if (header === undefined) return undefined;
  const length = parseLength(header);
  if (length === 0) return null;
  if (length === HEADER_BYTES) return Buffer.alloc(0);
  const content = await readExactly(stream, length - HEADER_BYTES);
  if (content === undefined) throw new MalformedPkt("the request ends within a packet");
  return content;
}

async function readExactly(stream: Readable, bytes: number): Promise<Buffer | undefined> {
  for (;;) {
    const chunk = stream.read(bytes) as Buffer | null;
    if (chunk?.length === bytes) return chunk;
    if (chunk) throw new MalformedPkt("the request ends within a packet");
    if (stream.errored) throw stream.errored;
    if (stream.readableEnded || stream.destroyed) return undefined;
    await somethingHappens(stream);
  }
}

function somethingHappens(stream: Readable): Promise<void> {
  const events = ["readable", "end", "close", "error"];
  return new Promise((resolve) => {
    const done = () => {
      for (const event of events) stream.off(event, done);
      resolve();
    };
    for (const event of events) stream.on(event, done);
  });
}

/** Takes packets out of bytes that come in pieces. */
export class PktReader {
  #pending: Buffer = Buffer.alloc(0);

  /** The packets that are whole by now; null is a flush. @throws MalformedPkt */
  push(chunk: Buffer): (Buffer | null)[] {
    let rest = this.#pending.length > 0 ? Buffer.concat([this.#pending, chunk]) : chunk;
    const packets: (Buffer | null)[] = [];
    while (rest.length >= HEADER_BYTES) {
      const length = parseLength(rest.subarray(0, HEADER_BYTES));
      if (rest.length < length) break;
      packets.push(length === 0 ? null : rest.subarray(HEADER_BYTES, length));
      rest = rest.subarray(length || HEADER_BYTES);
    }
    this.#pending = rest;
    return packets;
  }
}
