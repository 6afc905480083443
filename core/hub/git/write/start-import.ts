import { GitFailed, isOutOfMemory, RanOutOfTime, spawnGit } from "../run-git.ts";

export type Content = Uint8Array | { sizeBytes: number; chunks: AsyncIterable<Uint8Array> };

export type Import = {
  writeBlob: (content: Content) => Promise<string>;
  /** The next command may be sent before this answer is awaited. */
  ask: (command: string) => Promise<string>;
  send: (command: string) => void;
  end: () => Promise<void>;
  kill: () => void;
};

const ARGS = ["fast-import", "--quiet", "--done"] as const;
const STDERR_MAX_CHARACTERS = 16_000;
/** S137: pushed folders can be large, and git keeps a commit's folders in memory. */
const LIMITS = { isLimited: true, memoryMiB: 1_536, cpuSeconds: 120, niceness: 10 } as const;
const SIGXCPU = "SIGXCPU";

/** After git has failed, every pending or later call throws GitFailed or RanOutOfTime. */
export async function startImport(path: string): Promise<Import> {
  const child = await spawnGit(path, ARGS, LIMITS);
  let waiting: { resolve: (line: string) => void; reject: (error: unknown) => void }[] = [];
  // `next` is the first unanswered question. Removing an array's first element would move all others (S137).
  let next = 0;
  let stderr = "";
  let marks = 0;
  let failure: unknown;
  const answered = (count: number) => {
    next = count;
    if (next < waiting.length) return;
    [waiting, next] = [[], 0];
  };
  const ended = new Promise<void>((resolve, reject) => {
    const fail = (error: unknown) => {
      failure ??= error;
      for (const { reject: refuse } of waiting.slice(next)) refuse(failure);
      answered(waiting.length);
      reject(failure);
    };
    child.once("error", fail);
    child.once("close", (status) => {
      if (status === 0) return resolve();
      const failed = new GitFailed(ARGS, status, stderr);
      fail(child.signalCode === SIGXCPU || isOutOfMemory(stderr) ? new RanOutOfTime(failed) : failed);
    });
  });
  ended.catch(() => undefined);
  child.stdin.on("error", () => undefined);
  child.stderr.on("data", (chunk: Buffer) => {
    if (stderr.length < STDERR_MAX_CHARACTERS) stderr += chunk.toString("utf8");
  });
  // Only line feeds end lines. node:readline would also split at separators that a path may contain.
  let unfinished = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (unfinished + text).split("\n");
    unfinished = lines.pop() ?? "";
    for (const line of lines) {
      const first = waiting[next];
      answered(next + 1);
      first?.resolve(line);
    }
  });

  const send = (command: string): void => {
    child.stdin.write(`${command}\n`);
  };
  const ask = (command: string): Promise<string> => {
    if (failure) return Promise.reject(failure);
    const answer = new Promise<string>((resolve, reject) => waiting.push({ resolve, reject }));
    answer.catch(() => undefined);
    send(command);
    return answer;
  };
  const write = async (chunk: Uint8Array): Promise<void> => {
    if (failure) throw failure;
    if (child.stdin.write(chunk)) return;
    await Promise.race([new Promise<void>((resolve) => child.stdin.once("drain", () => resolve())), ended]);
  };

  return {
    send,
    ask,
    writeBlob: async (content) => {
      const mark = `:${++marks}`;
      if (content instanceof Uint8Array) {
        send(`blob\nmark ${mark}\ndata ${content.byteLength}`);
        await write(content);
      } else {
        send(`blob\nmark ${mark}\ndata ${content.sizeBytes}`);
        let written = 0;
        for await (const chunk of content.chunks) {
          written += chunk.byteLength;
          if (written > content.sizeBytes) break;
          await write(chunk);
        }
        // Otherwise git would read the next command as a part of the file.
        if (written !== content.sizeBytes)
          throw new Error(`a file announced with ${content.sizeBytes} bytes had ${written} bytes`);
      }
      return ask(`\nget-mark ${mark}`);
    },
    end: () => {
      child.stdin.end("done\n");
      return ended;
    },
    kill: () => void child.kill("SIGKILL"),
  };
}
