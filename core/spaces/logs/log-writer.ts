import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { pool } from "../../db.ts";
import { newOrderedId } from "../../ids.ts";
import { LogShare } from "../../jobs/logs/log-share.ts";
import { SecretMask } from "../../jobs/logs/secret-mask.ts";
import { SecretWindows } from "../../jobs/logs/secret-windows.ts";
import { log } from "../../log.ts";
import { SPACE_LOG_CHANNEL } from "../stages.ts";

const FLUSH_MS = 200;
/** Reading pauses at this size, so a Space prints at most about 640 KiB a second. */
const WAITING_MAX_CHARACTERS = 128 * 1024;
const PIECE_MAX_CHARACTERS = 16 * 1024;

const ROOM_MAX_CHARACTERS = 2 * 1024 ** 2;
const ROOM_CHARACTERS_PER_SECOND = PIECE_MAX_CHARACTERS;
const FULL_FLUSH_MS = 1_000;
const LEFT_OUT = "===== Some output was not stored: the app prints too much. =====\n";

export class LogWriter {
  readonly #repoId: string;
  readonly #masks: Record<"stdout" | "stderr", SecretMask>;
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  readonly #unfinished = { stdout: "", stderr: "" };
  readonly #share: LogShare;
  #waiting = "";
  #room = ROOM_MAX_CHARACTERS;
  #roomAt = performance.now();
  #due: Promise<void> | undefined;
  #storing: Promise<void> = Promise.resolve();

  private constructor(repoId: string, { windows, share }: { windows: SecretWindows; share: LogShare }) {
    this.#repoId = repoId;
    this.#masks = { stdout: new SecretMask(windows), stderr: new SecretMask(windows) };
    this.#share = share;
  }

  /** @param secrets are masked (S134) */
  static async open(repoId: string, { party, secrets }: { party: string; secrets: readonly string[] }): Promise<LogWriter> {
    const share = new LogShare(party);
    return new LogWriter(repoId, { windows: await SecretWindows.of(secrets, share), share });
  }

  note(sentence: string): void {
    this.#add(`===== ${sentence} =====\n`);
  }

  async output(stream: "stdout" | "stderr", bytes: Buffer): Promise<void> {
    await this.#share.take(() => this.#take(stream, this.#masks[stream].push(this.#decoders[stream].write(bytes))));
    if (this.#waiting.length > WAITING_MAX_CHARACTERS) await this.#due;
  }

  async close(): Promise<void> {
    for (const stream of ["stdout", "stderr"] as const) {
      const mask = this.#masks[stream];
      const rest = this.#unfinished[stream] + mask.push(this.#decoders[stream].end()) + mask.end();
      this.#unfinished[stream] = "";
      if (rest !== "") this.#add(`${rest}\n`);
    }
    await this.#flush();
  }

  #take(stream: "stdout" | "stderr", masked: string): void {
    const text = this.#unfinished[stream] + masked;
    const end = text.length > PIECE_MAX_CHARACTERS ? text.length : text.lastIndexOf("\n") + 1;
    this.#unfinished[stream] = text.slice(end);
    this.#add(text.slice(0, end));
  }

  #add(text: string): void {
    if (text === "") return;
    this.#waiting += text;
    this.#due ??= sleep(this.#room < PIECE_MAX_CHARACTERS ? FULL_FLUSH_MS : FLUSH_MS).then(() => this.#flush());
  }

  async #flush(): Promise<void> {
    this.#due = undefined;
    const text = this.#fit(this.#waiting);
    this.#waiting = "";
    if (text !== "") this.#storing = this.#storing.then(() => this.#store(text));
    await this.#storing;
  }

  #fit(text: string): string {
    const now = performance.now();
    const more = ((now - this.#roomAt) / 1_000) * ROOM_CHARACTERS_PER_SECOND;
    this.#room = Math.min(ROOM_MAX_CHARACTERS, this.#room + more);
    this.#roomAt = now;
    const kept = text.slice(-Math.max(PIECE_MAX_CHARACTERS, this.#room));
    this.#room -= kept.length;
    return kept.length === text.length ? text : LEFT_OUT + kept.slice(kept.indexOf("\n") + 1);
  }

  async #store(text: string): Promise<void> {
    const count = Math.ceil(text.length / PIECE_MAX_CHARACTERS);
    const pieces = Array.from({ length: count }, (_, at) =>
      text.slice(at * PIECE_MAX_CHARACTERS, (at + 1) * PIECE_MAX_CHARACTERS),
    );
    // A Space continues without its log while the database is unavailable.
    await appendSpaceLog(this.#repoId, ...pieces).catch((error: unknown) =>
      log().warn({ err: error }, "cannot store the output of a Space"),
    );
  }
}

const SPACE_LOG_MAX_BYTES = 256 * 1024;
const PIECES_MAX = 2_000;
const PRUNE_EVERY = 64;
const appended = new Map<string, number>();

export async function appendSpaceLog(repoId: string, ...texts: string[]): Promise<void> {
  // A Space deleted meanwhile has no log.
  await pool().query(
    `WITH added AS (
       INSERT INTO space_log (repo_id, id, text) SELECT repo.id, piece.id, piece.text
         FROM repo, unnest($2::text[], $3::text[]) AS piece (id, text) WHERE repo.id = $1 RETURNING repo_id
     ) SELECT pg_notify($4, repo_id) FROM (SELECT DISTINCT repo_id FROM added) AS one`,
    [repoId, texts.map(() => newOrderedId()), texts.map(storable), SPACE_LOG_CHANNEL],
  );
  const count = (appended.get(repoId) ?? 0) + texts.length;
  appended.set(repoId, count % PRUNE_EVERY);
  if (count >= PRUNE_EVERY) await pruneSpaceLog(repoId);
}

async function pruneSpaceLog(repoId: string): Promise<void> {
  await pool().query(
    `DELETE FROM space_log WHERE repo_id = $1 AND id <= (
       SELECT id FROM (
         SELECT id, sum(octet_length(text)) OVER w AS bytes, row_number() OVER w AS pieces FROM space_log WHERE repo_id = $1
         WINDOW w AS (ORDER BY id DESC)
       ) AS newest WHERE bytes > $2 OR pieces > $3 ORDER BY id DESC LIMIT 1)`,
    [repoId, SPACE_LOG_MAX_BYTES, PIECES_MAX],
  );
}

const storable = (text: string): string => text.replaceAll("\0", "\u{fffd}").toWellFormed();
