import { bandPackets, FLUSH, PktReader, pktLine } from "./pkt-line.ts";

/** The outcome of a push (gitprotocol-pack, "Report Status"); refs as bytes in `latin1`. */
export type Report = {
  /** `ok`, or why the pack was refused. */
  unpack: string;
  /** By ref: null when it was changed, or why it was not. */
  refs: Map<string, string | null>;
};

const REPORT_MAX_BYTES = 16 * 1024 * 1024;

/** Git reports such a deletion as done nevertheless. */
const GONE_ALREADY = "warning: Deleting a non-existent ref";

/** Reads git's output for a push over the side band: its report, which is held back, and its messages meanwhile. */
export class ReceivedOutput {
  readonly #packets = new PktReader();
  readonly #report: Buffer[] = [];
  #reportBytes = 0;
  readonly #tell: (packet: Buffer) => void;
  #goneAlready = 0;

  /** @param tell gets at once what is for the client: progress, and the empty packets that keep a connection alive. */
  constructor(tell: (packet: Buffer) => void) {
    this.#tell = tell;
  }

  push(chunk: Buffer): void {
    for (const packet of this.#packets.push(chunk)) {
      if (!packet || packet.length === 0) continue;
      if (packet[0] === 1 && packet.length > 1) this.#keep(packet.subarray(1));
      else {
        this.#goneAlready += packet.toString("latin1").split(GONE_ALREADY).length - 1;
        this.#tell(pktLine(packet));
      }
    }
  }

  /** How many refs, according to git, were deleted by somebody else before. */
  get goneAlready(): number {
    return this.#goneAlready;
  }

  #keep(bytes: Buffer): void {
    this.#reportBytes += bytes.length;
    if (this.#reportBytes <= REPORT_MAX_BYTES) this.#report.push(Buffer.from(bytes));
  }

  /** Undefined when git ended without a report. */
  report(): Report | undefined {
    const report: Report = { unpack: "", refs: new Map() };
    for (const line of new PktReader().push(Buffer.concat(this.#report))) {
      const text = line?.toString("latin1").replace(/\n$/, "") ?? "";
      const [, word, rest = ""] = /^(unpack|ok|ng) ([\s\S]*)$/.exec(text) ?? [];
      if (word === "unpack") report.unpack = rest;
      else if (word === "ok") report.refs.set(rest, null);
      else if (word === "ng") {
        const space = rest.indexOf(" ");
        report.refs.set(rest.slice(0, space), rest.slice(space + 1));
      }
    }
    return report.unpack === "" ? undefined : report;
  }
}

/** The end of the response to a push, as far as the client's capabilities ask for it. */
export function answerPush(capabilities: ReadonlySet<string>, report: Report, messages: readonly string[]): Buffer {
  const hasBands = capabilities.has("side-band-64k");
  const isReported = capabilities.has("report-status") || capabilities.has("report-status-v2");
  const said =
    hasBands && messages.length > 0
      ? bandPackets(2, Buffer.from(messages.map((line) => `${line}\n`).join("")))
      : FLUSH.subarray(0, 0);
  if (!isReported) return Buffer.concat([said, ...(hasBands ? [FLUSH] : [])]);
  const lines = [
    pktLine(`unpack ${report.unpack}\n`),
    ...[...report.refs].map(([ref, reason]) =>
      pktLine(Buffer.from(reason === null ? `ok ${ref}\n` : `ng ${ref} ${headline(reason)}\n`, "latin1")),
    ),
    FLUSH,
  ];
  const body = Buffer.concat(lines);
  return hasBands ? Buffer.concat([said, bandPackets(1, body), FLUSH]) : body;
}

/** One line, as bytes in `latin1`. */
const headline = (reason: string): string => Buffer.from(reason.replace(/[\0\r\n]+/g, " ").slice(0, 500)).toString("latin1");
