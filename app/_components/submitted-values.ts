import type { FormValues } from "./form-state.ts";

const SECRET_NAME = /password|secret|api-?key/i;
/** React's own fields, which identify the action. */
const INTERNAL_NAME = /^\$ACTION/;

export function submittedValues(data: FormData): FormValues {
  const values = new Map<string, string | string[]>();
  // `getAll` walks the whole form, which takes minutes for a form with very many names (S138).
  for (const [name, value] of data) {
    if (typeof value !== "string" || SECRET_NAME.test(name) || INTERNAL_NAME.test(name)) continue;
    const before = values.get(name);
    if (Array.isArray(before)) before.push(value);
    else values.set(name, before === undefined ? value : [before, value]);
  }
  return Object.fromEntries(values);
}
