import { ServiceError } from "../../../errors.ts";

/** Enough for a commit with the maximum number of files, each in two folders of its own. */
const FOLDERS_MAX = 50_000;
const CHARACTERS_MAX = 4 * 1024 * 1024;

/** The folders of paths. A path of 400 bytes can have 200 of them, and git is asked about each: so their number is limited (S137). */
export class Folders {
  readonly #known = new Set<string>();
  #count = 0;
  #characters = 0;

  /**
   * Adds the folders of a path.
   * @returns those that are new, the innermost first
   * @throws ServiceError `payload_too_large`
   */
  add(path: string): string[] {
    const added: string[] = [];
    // A known folder's own folders are known too.
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

  /** A file replaces this path. If it was a folder, the folders below it are gone: if a later path needs them again, they count again. */
  replace(path: string): void {
    if (this.#known.has(path)) this.#known.clear();
  }
}
