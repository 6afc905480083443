/** The command line is wrong: exit code 2. */
export class BadInput extends Error {
  override readonly name = "BadInput";
}

/** The request was not carried out, and the message says what to do: exit code 1. */
export class Refused extends Error {
  override readonly name = "Refused";
}

/** The exit code after Ctrl-C, as in shells: 128 plus the signal's number. */
export const INTERRUPTED = 130;
