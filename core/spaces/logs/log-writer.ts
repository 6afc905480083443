import { StringDecoder } from "node:string_decoder";
import { SecretMask } from "../../jobs/logs/secret-mask.ts";
import { SecretWindows } from "../../jobs/logs/secret-windows.ts";
import { log } from "../../log.ts";
import { appendSpaceLog } from "./append-space-log.ts";

const FLUSH_MS = 200;
/** A line that is longer is cut; more waits until what came before is stored. */
const PIECE_MAX_CHARACTERS = 16 * 1024;

/** Takes what a Space prints, whole lines at a time, masks its secrets (S134) and stores it. */
export class LogWriter {
  readonly #repoId: string;
  readonly #masks: Record<"stdout" | "stderr", SecretMask>;
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  readonly #unfinished = { stdout: "", stderr: "" };
  #waiting = "";
  #timer: NodeJS.Timeout | undefined;
  #storing: Promise<void> = Promise.resolve();

  constructor(repoId: string, secrets: readonly string[]) {
    this.#repoId = repoId;
    const windows = new SecretWindows(secrets);
    this.#masks = { stdout: new SecretMask(windows), stderr: new SecretMask(windows) };
  }

  /** What this service has to say. */
  note(sentence: string): void {
    this.#add(`===== ${sentence} =====\n`);
  }

  /** What the command wrote. Resolves when more may come: a Space that prints without end waits for its log. */
  async output(stream: "stdout" | "stderr", bytes: Buffer): Promise<void> {
    const text = this.#unfinished[stream] + this.#masks[stream].push(this.#decoders[stream].write(bytes));
    const end = text.length > PIECE_MAX_CHARACTERS ? text.length : text.lastIndexOf("\n") + 1;
    this.#unfinished[stream] = text.slice(end);
    this.#add(text.slice(0, end));
    if (this.#waiting.length > PIECE_MAX_CHARACTERS) await this.flush();
  }

  /** Stores all that has come. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#waiting;
    this.#waiting = "";
    if (text !== "") this.#storing = this.#storing.then(() => this.#store(text));
    await this.#storing;
  }

  async close(): Promise<void> {
    for (const stream of ["stdout", "stderr"] as const) {
      const mask = this.#masks[stream];
      const rest = this.#unfinished[stream] + mask.push(this.#decoders[stream].end()) + mask.end();
      this.#unfinished[stream] = "";
      if (rest !== "") this.#add(`${rest}\n`);
    }
    await this.flush();
  }

  #add(text: string): void {
    if (text === "") return;
    this.#waiting += text;
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS);
  }

  async #store(text: string): Promise<void> {
    for (let at = 0; at < text.length; at += PIECE_MAX_CHARACTERS) {
      // A Space goes on without its log while the database is away.
      await appendSpaceLog(this.#repoId, text.slice(at, at + PIECE_MAX_CHARACTERS)).catch((error: unknown) =>
        log().warn({ err: error }, "cannot keep what a Space printed"),
      );
    }
  }
}
