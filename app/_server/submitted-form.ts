import { ServiceError } from "#core/errors.ts";
import type { FormValues } from "../_components/form-state.ts";
import { submittedValues } from "../_components/submitted-values.ts";

/** A missing field reads as empty. core decides what is required. */
export class SubmittedForm {
  readonly #data: FormData;

  /** @throws ServiceError `invalid_request` if the action was called without a form */
  constructor(data: FormData) {
    if (!(data instanceof FormData))
      throw new ServiceError("invalid_request", "This form could not be read. Reload the page and try again.");
    this.#data = data;
  }

  has(name: string): boolean {
    return this.#data.has(name);
  }

  text(name: string): string {
    return this.verbatim(name).trim();
  }

  verbatim(name: string): string {
    const value = this.#data.get(name);
    return typeof value === "string" ? value : "";
  }

  optional(name: string): string | null {
    return this.text(name) || null;
  }

  all(name: string): string[] {
    return this.#data.getAll(name).filter((value) => typeof value === "string");
  }

  isTicked(name: string): boolean {
    return this.#data.has(name);
  }

  async file(name: string): Promise<Uint8Array | undefined> {
    const value = this.#data.get(name);
    return value instanceof File && value.size > 0 ? new Uint8Array(await value.arrayBuffer()) : undefined;
  }

  async files(name: string): Promise<{ name: string; content: Uint8Array }[]> {
    const chosen = this.#data.getAll(name).filter((value) => value instanceof File && !isNone(value)) as File[];
    return Promise.all(chosen.map(async (file) => ({ name: file.name, content: new Uint8Array(await file.arrayBuffer()) })));
  }

  /** Returns the submitted values without secrets and files. */
  echo(): FormValues {
    return submittedValues(this.#data);
  }

  /** PostgreSQL cannot store a NUL character (S51). @throws ServiceError `invalid_request` */
  requireStorableText(): void {
    for (const [name, value] of this.#data) {
      if (typeof value === "string" && value.includes("\0")) {
        throw new ServiceError("invalid_request", "This contains a NUL character, which cannot be stored. Delete it.", {
          field: name,
        });
      }
    }
  }
}

/** Browsers send an empty file for no choice. React then names the file "undefined". */
const isNone = ({ name, size }: File): boolean => name === "" || (name === "undefined" && size === 0);

/** Browsers send each line end as CR LF. A long text as `lineEnd` could produce gigabytes (S137). */
export function withLineEnd(text: string, lineEnd: unknown): string {
  return text.replace(/\r\n?|\n/g, lineEnd === "\r\n" ? "\r\n" : "\n");
}
