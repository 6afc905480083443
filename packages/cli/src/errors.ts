/** The command line is wrong. The exit code is 2. */
export class BadInput extends Error {
  override readonly name = "BadInput";
}

/** The command failed or was refused. The exit code is 1, and the message says what to do. */
export class Refused extends Error {
  override readonly name = "Refused";
}

/** The exit code after Ctrl-C. As in shells, it is 128 plus the signal's number. */
export const INTERRUPTED = 130;
