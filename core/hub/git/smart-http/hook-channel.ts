import type { Duplex } from "node:stream";
import type { GitProcess } from "../launched-git.ts";

export type Arrival = {
  quarantine: string | undefined;
  large: { oid: string; bytes: number }[];
  long?: { type: string; oid: string };
  unpackedBytes: number;
  objects: number;
  isUnreadable: boolean;
};

const REPORT_MAX_CHARACTERS = 64 * 1024;

export class HookChannel {
  readonly #stream: Duplex;
  readonly arrival: Promise<Arrival | undefined>;

  constructor(child: GitProcess) {
    this.#stream = (child.stdio as unknown as Duplex[])[3] as Duplex;
    this.#stream.on("error", () => undefined);
    this.arrival = new Promise((resolve) => {
      let report = "";
      this.#stream.on("data", (chunk: Buffer) => {
        if (report.length > REPORT_MAX_CHARACTERS) return;
        report += chunk.toString("utf8");
        if (/(^|\n)ready\n$/.test(report)) resolve(parseArrival(report));
      });
      this.#stream.once("close", () => resolve(undefined));
      child.once("exit", () => resolve(undefined));
    });
  }

  answer(word: "go" | "stop"): void {
    this.#stream.end(`${word}\n`);
  }

  close(): void {
    this.#stream.destroy();
  }
}

function parseArrival(report: string): Arrival {
  const arrival: Arrival = { quarantine: undefined, large: [], unpackedBytes: 0, objects: 0, isUnreadable: false };
  for (const line of report.split("\n")) {
    const [word, ...rest] = line.split(" ");
    if (word === "quarantine") arrival.quarantine = rest.join(" ");
    else if (word === "large") arrival.large.push({ oid: rest[0] ?? "", bytes: Number(rest[1]) });
    else if (word === "long") arrival.long = { type: rest[0] ?? "", oid: rest[1] ?? "" };
    else if (word === "unpacked") arrival.unpackedBytes = Number(rest[0]);
    else if (word === "objects") arrival.objects = Number(rest[0]);
    else if (word === "failed") arrival.isUnreadable = true;
  }
  return arrival;
}
