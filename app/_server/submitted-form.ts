import { ServiceError } from "#core/errors.ts";
import type { FormValues } from "../_components/form-state.ts";
import { typedValues } from "../_components/typed-values.ts";

/** What a browser sent, read by the names of the fields. A missing field reads as empty: core says what is required. */
export class SubmittedForm {
  readonly #data: FormData;

  /** @throws ServiceError `invalid_request` when an action was called with something else than a form, which no browser of ours does */
  constructor(data: FormData) {
    if (!(data instanceof FormData)) throw new ServiceError("invalid_request", "This form was not understood.");
    this.#data = data;
  }

  has(name: string): boolean {
    return this.#data.has(name);
  }

  /** One line or text area, without spaces around it. */
  text(name: string): string {
    return this.verbatim(name).trim();
  }

  /** As typed: for passwords, whose spaces count. */
  verbatim(name: string): string {
    const value = this.#data.get(name);
    return typeof value === "string" ? value : "";
  }

  /** An optional text: null when it was left empty. */
  optional(name: string): string | null {
    return this.text(name) || null;
  }

  /** Every value of a name: checkboxes. */
  all(name: string): string[] {
    return this.#data.getAll(name).filter((value) => typeof value === "string");
  }

  /** Whether a checkbox without a value of its own was ticked. */
  isTicked(name: string): boolean {
    return this.#data.has(name);
  }

  /** The bytes of a chosen file; undefined when none was chosen. */
  async file(name: string): Promise<Uint8Array | undefined> {
    const value = this.#data.get(name);
    return value instanceof File && value.size > 0 ? new Uint8Array(await value.arrayBuffer()) : undefined;
  }

  /** All files chosen under a name, empty ones too. */
  async files(name: string): Promise<{ name: string; content: Uint8Array }[]> {
    const chosen = this.#data.getAll(name).filter((value) => value instanceof File && !isNone(value)) as File[];
    return Promise.all(chosen.map(async (file) => ({ name: file.name, content: new Uint8Array(await file.arrayBuffer()) })));
  }

  /** What may be shown again: no secrets, no files. */
  echo(): FormValues {
    return typedValues(this.#data);
  }

  /** Postgres holds no NUL, and nothing good is meant by one (S51). @throws ServiceError `invalid_request` */
  requireStorableText(): void {
    for (const [name, value] of this.#data) {
      if (typeof value === "string" && value.includes("\0")) {
        throw new ServiceError("invalid_request", "This contains a character that cannot be kept.", { field: name });
      }
    }
  }
}

/** When no file was chosen a browser sends an empty one without a name, which React, decoding an action's form, calls "undefined". */
const isNone = ({ name, size }: File): boolean => name === "" || (name === "undefined" && size === 0);
