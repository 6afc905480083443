import { setTimeout as sleep } from "node:timers/promises";
import { pool } from "../../db.ts";
import { log } from "../../log.ts";
import { JOB_LOG_CHANNEL } from "../stages.ts";
import { LogShare } from "./log-share.ts";
import type { LogChunk, LogStream } from "./read-log.ts";
import { SecretMask } from "./secret-mask.ts";
import { SecretWindows } from "./secret-windows.ts";

type Output = "stdout" | "stderr";

/** The limit for one run (S132). */
export const LOG_MAX_BYTES = 8 * 1024 ** 2;

const FLUSH_MS = 200;
const LINE_WAIT_MS = 1_000;
const LINE_MAX = 16 * 1024;
const CHUNK_MAX = 32 * 1024;
const PENDING_MAX = 256 * 1024;
const DISCARD_PAUSE_MS = 10;
const RETRY_MS = 1_000;

export class LogWriter {
  readonly #runId: string;
  readonly #claimId: string;
  readonly #streams: Record<Output, OutputText>;
  readonly #share: LogShare;
  #bytes = 0;
  #taken = 0;
  #isFull = false;
  #isLost = false;
  #pending: NewChunk[] = [];
  #pendingLength = 0;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;

  private constructor(runId: string, claimId: string, { windows, share }: { windows: SecretWindows; share: LogShare }) {
    this.#runId = runId;
    this.#claimId = claimId;
    this.#streams = { stdout: new OutputText(windows), stderr: new OutputText(windows) };
    this.#share = share;
  }

  static async open(
    runId: string,
    claimId: string,
    { party, secrets }: { party: string; secrets: readonly string[] },
  ): Promise<LogWriter> {
    const share = new LogShare(party);
    return new LogWriter(runId, claimId, { windows: await SecretWindows.of(secrets, share), share });
  }

  /** Await each call, so that output cannot flood the process. */
  async write(stream: Output, bytes: Buffer): Promise<void> {
    if (this.#isFull) {
      await sleep(DISCARD_PAUSE_MS);
      return;
    }
    await this.#share.take(() => this.#keep(stream, this.#streams[stream].take(bytes)));
    // Masked secrets leave little text to store, so the bytes that are read are limited too.
    this.#taken += bytes.length;
    if (this.#taken > LOG_MAX_BYTES) this.#fill();
    if (this.#pendingLength > PENDING_MAX) await this.#flush();
    else this.#timer ??= setTimeout(() => void this.#flush(), FLUSH_MS);
  }

  note(sentence: string): void {
    this.#add("system", `${sentence}\n`);
    this.#timer ??= setTimeout(() => void this.#flush(), FLUSH_MS);
  }

  /** Await this before the run ends, because an ended run gets no more output. */
  async close(): Promise<void> {
    for (const stream of ["stdout", "stderr"] as const) this.#keep(stream, this.#streams[stream].end());
    clearTimeout(this.#timer);
    // An earlier flush may have emptied `#pending` without having stored the chunks yet.
    do await this.#flush();
    while (this.#pending.length > 0 && !this.#isLost);
  }

  #keep(stream: Output, text: string): void {
    if (text === "" || this.#isFull) return;
    const room = LOG_MAX_BYTES - this.#bytes;
    const size = Buffer.byteLength(text);
    this.#bytes += Math.min(size, room);
    if (size <= room) {
      this.#add(stream, text);
      return;
    }
    this.#add(stream, new TextDecoder().decode(Buffer.from(text).subarray(0, room), { stream: true }));
    this.#fill();
  }

  #fill(): void {
    if (this.#isFull) return;
    this.#isFull = true;
    this.note(`Output beyond ${inUnits(LOG_MAX_BYTES)} is not stored.`);
  }

  #add(stream: LogStream, text: string): void {
    const at = new Date();
    for (let rest = text; rest !== ""; ) {
      const last = this.#pending.at(-1);
      const isMore = last?.stream === stream && last.text.length < CHUNK_MAX;
      const piece = takeLines(rest, isMore ? CHUNK_MAX - last.text.length : CHUNK_MAX);
      if (isMore) last.text += piece;
      else this.#pending.push({ at, stream, text: piece });
      rest = rest.slice(piece.length);
    }
    this.#pendingLength += text.length;
  }

  async #flush(): Promise<void> {
    this.#flushing ??= this.#store().finally(() => {
      this.#flushing = undefined;
    });
    await this.#flushing;
  }

  async #store(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const stream of ["stdout", "stderr"] as const) this.#keep(stream, this.#streams[stream].takeStale());
    const chunks = this.#pending;
    this.#pending = [];
    this.#pendingLength = 0;
    while (chunks.length > 0 && !this.#isLost) {
      try {
        this.#isLost = !(await appendLog(this.#runId, this.#claimId, chunks));
        break;
      } catch (error) {
        log().warn({ err: error, runId: this.#runId }, "cannot store a job's output; trying again");
        await sleep(RETRY_MS);
      }
    }
    if (Object.values(this.#streams).some((stream) => stream.isWaiting)) {
      this.#timer ??= setTimeout(() => void this.#flush(), LINE_WAIT_MS);
    }
  }

  abandon(): void {
    this.#isLost = true;
    clearTimeout(this.#timer);
  }
}

class OutputText {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #mask: SecretMask;
  #line = "";
  #since = 0;

  constructor(secrets: SecretWindows) {
    this.#mask = new SecretMask(secrets);
  }

  get isWaiting(): boolean {
    return this.#line !== "";
  }

  take(bytes: Buffer): string {
    return this.#lines(this.#mask.push(withoutNul(this.#decoder.decode(bytes, { stream: true }))));
  }

  takeStale(): string {
    if (Date.now() - this.#since < LINE_WAIT_MS) return "";
    const line = this.#line;
    this.#line = "";
    return line;
  }

  end(): string {
    const rest = this.#line + this.#mask.push(withoutNul(this.#decoder.decode())) + this.#mask.end();
    this.#line = "";
    return rest;
  }

  #lines(text: string): string {
    const all = this.#line + text;
    if (this.#line === "" && text !== "") this.#since = Date.now();
    const end = all.length > LINE_MAX ? all.length : all.lastIndexOf("\n") + 1;
    this.#line = all.slice(end);
    if (end > 0) this.#since = Date.now();
    return all.slice(0, end);
  }
}

const withoutNul = (text: string): string => text.replaceAll("\0", "\uFFFD");

function takeLines(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.lastIndexOf("\n", most - 1) + 1 || most;
  const isHalf = end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] ?? "");
  return text.slice(0, isHalf && end > 1 ? end - 1 : end + (isHalf ? 1 : 0));
}

function inUnits(bytes: number): string {
  return bytes % 1024 ** 2 === 0 ? `${bytes / 1024 ** 2} MiB` : `${bytes} bytes`;
}

type NewChunk = Omit<LogChunk, "seq">;

/**
 * Output of a worker without the claim is dropped.
 * @returns whether the worker still has the claim
 */
export async function appendLog(runId: string, claimId: string, chunks: readonly NewChunk[]): Promise<boolean> {
  const { rowCount } = await pool().query(
    `with run as (
       update job_run set log_bytes = log_bytes + $3 where id = $1 and claim_id = $2 returning id
     ), last as (
       select coalesce(max(seq), 0) as seq from job_log where run_id = $1
     ), added as (
       insert into job_log (run_id, seq, at, stream, text)
       select run.id, last.seq + chunk.number, chunk.at, chunk.stream, chunk.text from run, last,
         unnest($4::timestamptz[], $5::text[], $6::text[]) with ordinality as chunk (at, stream, text, number)
     )
     select pg_notify($7, id) from run`,
    [
      runId,
      claimId,
      chunks.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
      chunks.map(({ at }) => at),
      chunks.map(({ stream }) => stream),
      chunks.map(({ text }) => text),
      JOB_LOG_CHANNEL,
    ],
  );
  return rowCount === 1;
}
