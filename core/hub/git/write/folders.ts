import { ServiceError } from "../../../errors.ts";

/** Two folders for each of the 25,000 files that a commit can have. */
const FOLDERS_MAX = 50_000;
const CHARACTERS_MAX = 4 * 1024 * 1024;

/** Git is asked about each folder, and a path of 400 bytes can have 200 folders (S137). */
export class Folders {
  readonly #known = new Set<string>();
  #count = 0;
  #characters = 0;

  add(path: string): string[] {
    const added: string[] = [];
    // The parents of a known folder are known too.
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const folder = path.slice(0, at);
      if (this.#known.has(folder)) break;
      this.#known.add(folder);
      added.push(folder);
      this.#count += 1;
      this.#characters += at;
    }
    if (this.#count > FOLDERS_MAX || this.#characters > CHARACTERS_MAX) {
      const sentence = `These files are in too many folders: at most ${FOLDERS_MAX.toLocaleString("en")}, or fewer with long paths. Send fewer files at once.`;
      throw new ServiceError("payload_too_large", sentence);
    }
    return added;
  }

  /** Folders below a replaced one count again when a later path needs them. */
  replace(path: string): void {
    if (this.#known.has(path)) this.#known.clear();
  }
}
