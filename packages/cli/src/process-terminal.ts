import type { Terminal } from "./terminal.ts";

/** The process's own terminal: the one place where this package reads the environment. */
export function processTerminal(): Terminal {
  const interrupted = new AbortController();
  // Once: whoever presses Ctrl-C again wants it to end now, however untidily.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => interrupted.abort(new Error(name)));
  for (const stream of [process.stdout, process.stderr]) {
    // `| head` has read enough: that is no failure.
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
  // On a machine without a screen the opener starts nothing, or a browser in the terminal.
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
