import { stripVTControlCharacters } from "node:util";

export type Watched = {
  onLine: (line: string) => void;
  failure: () => string;
};

const REDRAW_MS = 1_000;

/** Without a terminal the tools' own output is printed instead. */
export class Progress {
  readonly #running = new Map<string, { startedAt: number; note: string }>();
  readonly #out: Pick<NodeJS.WriteStream, "write" | "columns">;
  #drawn = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(out: Pick<NodeJS.WriteStream, "write" | "columns"> = process.stdout) {
    this.#out = out;
  }

  begin(title: string, total?: number): Watched {
    this.#running.set(title, { startedAt: performance.now(), note: "" });
    this.#timer ??= setInterval(() => this.#draw(), REDRAW_MS);
    this.#draw();
    const lines: string[] = [];
    const count = counter(total);
    const onLine = (line: string) => {
      lines.push(line);
      const running = this.#running.get(title);
      if (running) running.note = count(stripVTControlCharacters(line)) ?? running.note;
    };
    return { onLine, failure: () => failureReport(lines) };
  }

  end(title: string, sign: "✓" | "✗", result: string, more = ""): void {
    const startedAt = this.#running.get(title)?.startedAt ?? performance.now();
    this.#running.delete(title);
    this.#erase();
    this.#out.write(
      `${this.#line([sign, title, result, formatDuration(performance.now() - startedAt)])}\n${more && `\n${more}\n\n`}`,
    );
    this.#draw();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#erase();
  }

  #draw(): void {
    this.#erase();
    for (const [title, { startedAt, note }] of this.#running) {
      this.#out.write(`${this.#line(["…", title, note, formatDuration(performance.now() - startedAt)])}\n`);
      this.#drawn++;
    }
  }

  #erase(): void {
    if (this.#drawn > 0) this.#out.write(`\x1b[${this.#drawn}A\x1b[J`);
    this.#drawn = 0;
  }

  /** A longer line would wrap and be erased only in part. */
  #line(parts: readonly string[]): string {
    return parts
      .filter(Boolean)
      .join("  ")
      .slice(0, this.#out.columns || 80);
  }
}

function counter(total: number | undefined): (line: string) => string | undefined {
  let [done, failed, of] = [0, 0, total];
  return (line) => {
    const stories = /^Running (\d+) tests? using/.exec(line)?.[1];
    if (stories) of = Number(stories);
    const sign = /^ ([✓❯×]) \S|^\s{2}([✓✘])\s+\d+ /.exec(line);
    if (sign) {
      done++;
      if (!line.includes("✓")) failed++;
      return [of ? `${done} of ${of}` : String(done), failed > 0 && `${failed} failed`].filter(Boolean).join(", ");
    }
    return /^setup: (.+)/.exec(line)?.[1];
  };
}

/** Returns the tool's own report from the end of its output, or the whole output without a report. */
function failureReport(lines: readonly string[]): string {
  const from = lines.findIndex((line) => /Failed (Tests|Suites) \d|^\s+1\) /.test(stripVTControlCharacters(line)));
  return lines.slice(Math.max(from, 0)).join("\n").trim();
}

export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
