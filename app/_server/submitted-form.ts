import { ServiceError } from "#core/errors.ts";
import type { FormValues } from "../_components/form-state.ts";
import { submittedValues } from "../_components/submitted-values.ts";

/** A submitted form. A missing field reads as empty; core decides what is required. */
export class SubmittedForm {
  readonly #data: FormData;

  /** @throws ServiceError `invalid_request` if the action was called without a form, which our pages never do */
  constructor(data: FormData) {
    if (!(data instanceof FormData))
      throw new ServiceError("invalid_request", "This form could not be read. Reload the page and try again.");
    this.#data = data;
  }

  has(name: string): boolean {
    return this.#data.has(name);
  }

  /** The text of a field, without surrounding spaces. */
  text(name: string): string {
    return this.verbatim(name).trim();
  }

  /** The text with its spaces, for passwords. */
  verbatim(name: string): string {
    const value = this.#data.get(name);
    return typeof value === "string" ? value : "";
  }

  /** An optional text; null if the field was left empty. */
  optional(name: string): string | null {
    return this.text(name) || null;
  }

  /** All values of a name, for checkboxes. */
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

  /** The values that may be shown again: neither secrets nor files. */
  echo(): FormValues {
    return submittedValues(this.#data);
  }

  /** PostgreSQL cannot store a NUL character, and no honest form contains one (S51). @throws ServiceError `invalid_request` */
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

/** If no file was chosen, a browser sends an empty file without a name. React names it "undefined" when it decodes an action's form. */
const isNone = ({ name, size }: File): boolean => name === "" || (name === "undefined" && size === 0);

/**
 * Text with the line ends of the file from which it was read, because browsers send each line end as CR LF. The browser also sends
 * `lineEnd` back, so it may have any value; a long text or a replacement pattern would produce gigabytes (S137).
 */
export function withLineEnd(text: string, lineEnd: unknown): string {
  return text.replace(/\r\n?|\n/g, lineEnd === "\r\n" ? "\r\n" : "\n");
}
