import type { Readable } from "node:stream";

/** See gitprotocol-common. A packet begins with its length in four hex digits, which count too. `0000` is a flush packet. */
export const FLUSH = Buffer.from("0000");

const HEADER_BYTES = 4;
const LINE_MAX_BYTES = 65_520;
/** The first byte is the band's number. */
const BAND_MAX_BYTES = LINE_MAX_BYTES - HEADER_BYTES - 1;

export class MalformedPkt extends Error {
  override name = "MalformedPkt";
}

export function pktLine(content: string | Uint8Array): Buffer {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return Buffer.concat([Buffer.from((bytes.length + HEADER_BYTES).toString(16).padStart(4, "0")), bytes]);
}

/** Band 1 carries the response, band 2 messages for users, and band 3 an error. */
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
  // Only protocol version 2, which this code does not read, has delimiters of length 1 or 2.
  if (length !== 0 && length < HEADER_BYTES) throw new MalformedPkt("a packet has an impossible length");
  if (length > LINE_MAX_BYTES) throw new MalformedPkt("a packet is too long");
  return length;
}

export class PktStream {
  readonly #stream: Readable;
  rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#stream = stream;
  }

  /** @returns null for a flush packet, or undefined at the end of the stream */
  async next(): Promise<Buffer | null | undefined> {
    if (!(await this.#fill(HEADER_BYTES))) {
      if (this.rest.length === 0) return undefined;
      throw new MalformedPkt("the request ends within a packet");
    }
    const length = parseLength(this.rest.subarray(0, HEADER_BYTES));
    if (!(await this.#fill(length))) throw new MalformedPkt("the request ends within a packet");
    const content = length === 0 ? null : this.rest.subarray(HEADER_BYTES, length);
    this.rest = this.rest.subarray(length || HEADER_BYTES);
    return content;
  }

  async #fill(bytes: number): Promise<boolean> {
    const pieces = [this.rest];
    let length = this.rest.length;
    let isEnded = false;
    while (length < bytes && !isEnded) {
      // Reads all buffered bytes, because a stream with remaining bytes emits "readable" again.
      const chunk = this.#stream.read() as Buffer | null;
      if (chunk) {
        pieces.push(chunk);
        length += chunk.length;
      } else if (this.#stream.errored) throw new MalformedPkt("the request cannot be read");
      else if (this.#stream.readableEnded || this.#stream.destroyed) isEnded = true;
      else await nextEvent(this.#stream);
    }
    // Joins the pieces once per packet. Appending each chunk would copy a long packet hundreds of times (S137).
    if (pieces.length > 1) this.rest = Buffer.concat(pieces, length);
    return !isEnded;
  }
}

function nextEvent(stream: Readable): Promise<void> {
  const events = ["readable", "end", "close", "error"];
  return new Promise((resolve) => {
    const done = () => {
      for (const event of events) stream.off(event, done);
      resolve();
    };
    for (const event of events) stream.on(event, done);
  });
}

export class PktReader {
  #pending: Buffer = Buffer.alloc(0);

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

/** Follows the packets without keeping them, so that the caller can append a last message. */
export class PktPosition {
  #left = 0;
  #header = "";
  #isFirstByte = false;
  #isSideBand = false;
  #isFramed = true;

  get takesBandPacket(): boolean {
    return this.#isFramed && this.#isSideBand && this.#left === 0 && this.#header === "";
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && this.#isFramed; ) {
      if (this.#left === 0) at += this.#readHeader(chunk.subarray(at, at + HEADER_BYTES - this.#header.length));
      else at += this.#skip(chunk.subarray(at, at + this.#left));
    }
  }

  #readHeader(bytes: Uint8Array): number {
    this.#header += Buffer.from(bytes).toString("latin1");
    if (this.#header.length < HEADER_BYTES) return bytes.length;
    // Without the side band, a pack begins with its signature.
    this.#isFramed = /^[0-9a-f]{4}$/i.test(this.#header);
    this.#left = Math.max(0, Number.parseInt(this.#header, 16) - HEADER_BYTES);
    this.#isFirstByte = true;
    this.#header = "";
    return bytes.length;
  }

  #skip(bytes: Uint8Array): number {
    // In protocol version 2, the line `packfile` precedes the side-band packets.
    if (this.#isFirstByte) this.#isSideBand ||= bytes[0] === "p".charCodeAt(0) || (bytes[0] as number) <= 3;
    this.#isFirstByte = false;
    this.#left -= bytes.length;
    return bytes.length;
  }
}
