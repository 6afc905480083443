import type { FormValues } from "./form-state.ts";

/** Matches the names of fields that are never filled in again. */
const SECRET_NAME = /password|secret|api-?key/i;
/** React's own fields, which identify the action. */
const INTERNAL_NAME = /^\$ACTION/;

/** The submitted values that may be shown again: no secrets, no files. */
export function submittedValues(data: FormData): FormValues {
  const values = new Map<string, string | string[]>();
  // In one pass: `getAll` walks the whole form, which takes minutes for a form with very many names (S138).
  for (const [name, value] of data) {
    if (typeof value !== "string" || SECRET_NAME.test(name) || INTERNAL_NAME.test(name)) continue;
    const before = values.get(name);
    if (Array.isArray(before)) before.push(value);
    else values.set(name, before === undefined ? value : [before, value]);
  }
  return Object.fromEntries(values);
}
