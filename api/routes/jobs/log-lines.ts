import type { LogChunk } from "#core/jobs/logs/log-chunk.ts";

/** Longer lines are sent in pieces, so that one without an end fills no memory. */
const LINE_MAX_CHARACTERS = 64 * 1024;

export type LogLine = { at: Date; text: string };

/**
 * Chunks of a log as lines. The same chunks make the same lines, wherever a stream breaks off: clients that reconnect skip as many as they
 * have seen. `rest` returns a stream's last text without a line end.
 */
export class LogLines {
  readonly #open = new Map<string, LogLine>();

  *of(chunks: Iterable<LogChunk>): Generator<LogLine> {
    for (const chunk of chunks) yield* this.#linesOf(chunk);
  }

  *#linesOf({ at, stream, text }: LogChunk): Generator<LogLine> {
    const begun = this.#open.get(stream);
    const lines = ((begun?.text ?? "") + text).split("\n");
    let since = begun?.at ?? at;
    let last = lines.pop() ?? "";
    for (const line of lines) {
      yield* pieces({ at: since, text: line.replace(/\r$/, "") });
      since = at;
    }
    while (last.length > LINE_MAX_CHARACTERS) {
      yield { at: since, text: last.slice(0, LINE_MAX_CHARACTERS) };
      last = last.slice(LINE_MAX_CHARACTERS);
    }
    if (last) this.#open.set(stream, { at: since, text: last });
    else this.#open.delete(stream);
  }

  *rest(): Generator<LogLine> {
    yield* this.#open.values();
    this.#open.clear();
  }
}

function* pieces({ at, text }: LogLine): Generator<LogLine> {
  for (let from = 0; from === 0 || from < text.length; from += LINE_MAX_CHARACTERS)
    yield { at, text: text.slice(from, from + LINE_MAX_CHARACTERS) };
}
