import type { Readable, Writable } from "node:stream";

type MaybeTty = { isTTY?: boolean };

export type Terminal = {
  stdin: Readable & MaybeTty;
  stdout: Writable & MaybeTty & { columns?: number };
  stderr: Writable & MaybeTty;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  /** Replaces the timer between two polls. */
  wait?: (seconds: number, signal?: AbortSignal) => Promise<void>;
  openBrowser: (url: string) => Promise<boolean>;
};

export const isInteractive = ({ stdin, stderr }: Terminal): boolean => Boolean(stdin.isTTY && stderr.isTTY);

/** Only this file reads the environment. */
export function processTerminal(): Terminal {
  const interrupted = new AbortController();
  // A second Ctrl-C ends the process at once, without cleaning up.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => interrupted.abort(new Error(name)));
  for (const stream of [process.stdout, process.stderr]) {
    // A reader such as `| head` may have read enough and closed the pipe.
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(0);
      throw error;
    });
  }
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    signal: interrupted.signal,
    openBrowser,
  };
}

async function openBrowser(url: string): Promise<boolean> {
  const { DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION } = process.env;
  // On a machine without a screen, `open` would start nothing, or a browser in the terminal.
  if (process.platform === "linux" && !DISPLAY && !WAYLAND_DISPLAY) return false;
  if (SSH_CONNECTION) return false;
  try {
    const { default: open } = await import("open");
    const child = await open(url);
    child.on("error", () => undefined);
    child.unref();
    return true;
  } catch {
    return false;
  }
}
