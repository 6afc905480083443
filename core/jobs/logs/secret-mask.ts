import type { SecretWindows } from "./secret-windows.ts";

/** What stands in a log in place of a secret, or of several that lie side by side. */
export const MASK = "***";

/**
 * Takes secrets out of text that comes in pieces (S134). What could be the beginning of one at the end of a piece is kept back until more
 * is known, which is never more than a window of it.
 */
export class SecretMask {
  readonly #secrets: SecretWindows;
  #kept = "";
  /** How much of the beginning of what is kept is known to be a secret's. */
  #hidden = 0;
  /** Whether what was shown ends with a mask: what is hidden after it needs no other. */
  #isAfterMask = false;

  constructor(secrets: SecretWindows) {
    this.#secrets = secrets;
  }

  /** @returns what may be shown of all that was given so far and not shown yet */
  push(piece: string): string {
    if (this.#secrets.isEmpty) return piece;
    const text = this.#kept + piece;
    return this.#show(text, text.length - this.#secrets.begunAtEnd(text));
  }

  /** What is left when nothing more comes. */
  end(): string {
    return this.#show(this.#kept, this.#kept.length);
  }

  /** Shows a text up to a place, and keeps the rest. */
  #show(text: string, end: number): string {
    let shown = "";
    let hidden = this.#hidden;
    for (let at = 0; at < end; at++) {
      const length = this.#secrets.lengthAt(text, at);
      if (length === 0) continue;
      if (at > hidden) {
        shown += text.slice(hidden, at) + MASK;
      } else if (hidden === 0 && !this.#isAfterMask) {
        shown += MASK;
      }
      this.#isAfterMask = true;
      hidden = Math.max(hidden, at + length);
    }
    if (hidden < end) {
      shown += text.slice(hidden, end);
      this.#isAfterMask = false;
      hidden = end;
    }
    this.#hidden = hidden - end;
    this.#kept = text.slice(end);
    return shown;
  }
}
