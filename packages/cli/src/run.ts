import { ApiError, SignInError } from "@keyhook/sdk";
import { CommanderError } from "commander";
import { BadInput, INTERRUPTED, Refused } from "./errors.ts";
import { visible } from "./output/printer.ts";
import { createProgram } from "./program.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Returns 0, 1 for a failed or refused command, 2 for a wrong command line, 130 after Ctrl-C. `argv` omits the program's name.
 */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await createProgram(terminal).parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    // The parser has already printed what is wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (terminal.signal.aborted) return INTERRUPTED;
    terminal.stderr.write(`Error: ${visible(sentenceOf(error))}\n`);
    return error instanceof BadInput || error instanceof TypeError ? 2 : 1;
  }
}

const OVER = new Set(["invalid_grant", "signed_out"]);

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isSignInOver = error instanceof SignInError ? OVER.has(error.code) : error instanceof ApiError && error.status === 401;
  if (isSignInOver) return `${error.message} Run keyhook login.`;
  if (error instanceof ApiError || error instanceof BadInput || error instanceof Refused) return error.message;
  return error.message || error.name;
}
