import type { Readable, Writable } from "node:stream";

type MaybeTty = { isTTY?: boolean };

/** What a run of the program reads and writes: the process's own, or a test's. */
export type Terminal = {
  stdin: Readable & MaybeTty;
  stdout: Writable & MaybeTty & { columns?: number };
  stderr: Writable & MaybeTty;
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** Lets time pass between two questions to the service; by a timer unless it is given. */
  wait?: (seconds: number, signal?: AbortSignal) => Promise<void>;
  /** Opens an address in the person's browser. False where there is none. */
  openBrowser: (url: string) => Promise<boolean>;
};

/** Whether somebody sits in front of it, who can be asked. */
export const isInteractive = ({ stdin, stderr }: Terminal): boolean => Boolean(stdin.isTTY && stderr.isTTY);
