import type { SecretWindows } from "./secret-windows.ts";

export const MASK = "***";

/** Text that could begin a secret is held back until the next piece arrives (S134). */
export class SecretMask {
  readonly #secrets: SecretWindows;
  #kept = "";
  #hidden = 0;
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
