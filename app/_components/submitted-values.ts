import type { FormValues } from "./form-state.ts";

/** Matches the names of fields that are never filled in again. */
const SECRET_NAME = /password|secret|api-?key/i;
/** React's own fields, which identify the action. */
const INTERNAL_NAME = /^\$ACTION/;

/** The submitted values that may be shown again: no secrets, no files. */
export function submittedValues(data: FormData): FormValues {
  const values: Record<string, string | string[]> = {};
  for (const name of new Set(data.keys())) {
    if (SECRET_NAME.test(name) || INTERNAL_NAME.test(name)) continue;
    const all = data.getAll(name).filter((value) => typeof value === "string");
    const [only] = all;
    if (all.length > 1) values[name] = all;
    else if (only !== undefined) values[name] = only;
  }
  return values;
}
