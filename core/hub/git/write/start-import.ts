import { GitFailed, spawnGit } from "../run-git.ts";

/** The bytes of a file: at hand, or as a stream whose length is known. */
export type Content = Uint8Array | { sizeBytes: number; chunks: AsyncIterable<Uint8Array> };

export type Import = {
  /** Writes a blob; memory stays small however large it is. @returns its id */
  writeBlob: (content: Content) => Promise<string>;
  /** Writes a command that git answers with a line. The answer may be awaited later: many can be under way. */
  ask: (command: string) => Promise<string>;
  tell: (command: string) => void;
  /** Waits until git has written everything. */
  end: () => Promise<void>;
  kill: () => void;
};

const ARGS = ["fast-import", "--quiet", "--done"] as const;
const STDERR_MAX_CHARACTERS = 16_000;

/**
 * `git fast-import` on a repository: one process that writes blobs, trees and commits, and answers questions about them on the way.
 * @throws GitFailed from whatever is waited for, once git has ended badly
 */
export async function startImport(path: string): Promise<Import> {
  const child = await spawnGit(path, ARGS, { niceness: 10 });
  const waiting: { resolve: (line: string) => void; reject: (error: unknown) => void }[] = [];
  let stderr = "";
  let marks = 0;
  let failure: unknown;
  const ended = new Promise<void>((resolve, reject) => {
    const fail = (error: unknown) => {
      failure ??= error;
      for (const { reject: refuse } of waiting.splice(0)) refuse(failure);
      reject(failure);
    };
    child.once("error", fail);
    child.once("close", (status) => (status === 0 ? resolve() : fail(new GitFailed(ARGS, status, stderr))));
  });
  // Whoever waits for an answer hears of it there.
  ended.catch(() => undefined);
  child.stdin.on("error", () => undefined);
  child.stderr.on("data", (chunk: Buffer) => {
    if (stderr.length < STDERR_MAX_CHARACTERS) stderr += chunk.toString("utf8");
  });
  // By line feeds alone: node:readline would also end a line at separators that a path may have.
  let unfinished = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (unfinished + text).split("\n");
    unfinished = lines.pop() ?? "";
    for (const line of lines) waiting.shift()?.resolve(line);
  });

  const tell = (command: string): void => {
    child.stdin.write(`${command}\n`);
  };
  const ask = (command: string): Promise<string> => {
    if (failure) return Promise.reject(failure);
    const answer = new Promise<string>((resolve, reject) => waiting.push({ resolve, reject }));
    answer.catch(() => undefined);
    tell(command);
    return answer;
  };
  const write = async (chunk: Uint8Array): Promise<void> => {
    if (failure) throw failure;
    if (child.stdin.write(chunk)) return;
    await Promise.race([new Promise<void>((resolve) => child.stdin.once("drain", () => resolve())), ended]);
  };

  return {
    tell,
    ask,
    writeBlob: async (content) => {
      const mark = `:${++marks}`;
      if (content instanceof Uint8Array) {
        tell(`blob\nmark ${mark}\ndata ${content.byteLength}`);
        await write(content);
      } else {
        tell(`blob\nmark ${mark}\ndata ${content.sizeBytes}`);
        let written = 0;
        for await (const chunk of content.chunks) {
          written += chunk.byteLength;
          if (written > content.sizeBytes) break;
          await write(chunk);
        }
        // Git would take what follows for the rest of the file.
        if (written !== content.sizeBytes) throw new Error(`a content of ${content.sizeBytes} bytes had ${written}`);
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
