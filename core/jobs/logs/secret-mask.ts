import type { SecretWindows } from "./secret-windows.ts";

/** Replaces a secret in a log, or several adjacent ones. */
export const MASK = "***";

/** Masks secrets in text that arrives in pieces (S134). The end of a piece that could begin a secret is held back. */
export class SecretMask {
  readonly #secrets: SecretWindows;
  #kept = "";
  /** How much of the beginning of the held text is known to belong to a secret. */
  #hidden = 0;
  /** Whether the shown text ends with a mask, so that the next hidden text needs none. */
  #isAfterMask = false;

  constructor(secrets: SecretWindows) {
    this.#secrets = secrets;
  }

  /** @returns the part of the input so far that may be shown and was not shown yet */
  push(piece: string): string {
    if (this.#secrets.isEmpty) return piece;
    const text = this.#kept + piece;
    return this.#show(text, text.length - this.#secrets.begunAtEnd(text));
  }

  /** The remainder, when the input has ended. */
  end(): string {
    return this.#show(this.#kept, this.#kept.length);
  }

  /** Shows a text up to a position, and holds the remaining text back. */
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
