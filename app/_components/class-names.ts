/** Joins class names and leaves out what is absent, so that conditions stay inside one expression. */
export function classNames(...names: ReadonlyArray<string | false | null | undefined>): string {
  return names.filter(Boolean).join(" ");
}
