/** What was typed cannot be done: exit code 2. */
export class BadInput extends Error {
  override readonly name = "BadInput";
}

/** What was asked for was not done, with what to do instead: exit code 1. */
export class Refused extends Error {
  override readonly name = "Refused";
}

/** Ctrl-C, as shells have it: 128 and the signal's number. */
export const INTERRUPTED = 130;
