/** Exit code 2. */
export class BadInput extends Error {
  override readonly name = "BadInput";
}

/** Exit code 1. The message says what to do. */
export class Refused extends Error {
  override readonly name = "Refused";
}

/** As in shells: 128 plus the signal's number. */
export const INTERRUPTED = 130;
