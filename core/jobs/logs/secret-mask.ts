import type { SecretWindows } from "./secret-windows.ts";

export const MASK = "***";

/** Text that could begin a secret is held back until the next piece arrives (S134). */
export class SecretMask {
  readonly #secrets: SecretWindows;
  #kept = "";
  /** The number of characters at the start of `#kept` whose mask was already shown. */
  #maskedUntil = 0;
  #isAfterMask = false;

  constructor(secrets: SecretWindows) {
    this.#secrets = secrets;
  }

  push(piece: string): string {
    if (this.#secrets.isEmpty) return piece;
    const text = this.#kept + piece;
    return this.#show(text, text.length - this.#secrets.begunAtEnd(text));
  }

  end(): string {
    return this.#show(this.#kept, this.#kept.length);
  }

  #show(text: string, end: number): string {
    let shown = "";
    let maskedUntil = this.#maskedUntil;
    for (let at = 0; at < end; at++) {
      const length = this.#secrets.lengthAt(text, at);
      if (length === 0) continue;
      if (at > maskedUntil) {
        shown += text.slice(maskedUntil, at) + MASK;
      } else if (maskedUntil === 0 && !this.#isAfterMask) {
        shown += MASK;
      }
      this.#isAfterMask = true;
      maskedUntil = Math.max(maskedUntil, at + length);
    }
    if (maskedUntil < end) {
      shown += text.slice(maskedUntil, end);
      this.#isAfterMask = false;
      maskedUntil = end;
    }
    this.#maskedUntil = maskedUntil - end;
    this.#kept = text.slice(end);
    return shown;
  }
}
