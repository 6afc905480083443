import { hash } from "node:crypto";

export const contentKey = (...texts: string[]): string => hash("sha256", JSON.stringify(texts), "base64");

export class Remembered<T> {
  readonly #known = new Map<string, { value: T; characters: number }>();
  readonly #max: { entries: number; characters: number };
  #characters = 0;

  constructor(max: { entries: number; characters: number }) {
    this.#max = max;
  }

  get(key: string): T | undefined {
    const one = this.#known.get(key);
    if (one === undefined) return undefined;
    this.#known.delete(key);
    this.#known.set(key, one);
    return one.value;
  }

  set(key: string, value: T, characters: number): void {
    this.delete(key);
    if (characters > this.#max.characters / 4) return;
    this.#known.set(key, { value, characters });
    this.#characters += characters;
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= this.#max.entries && this.#characters <= this.#max.characters) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#characters -= this.#known.get(key)?.characters ?? 0;
    this.#known.delete(key);
  }
}
