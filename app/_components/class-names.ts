/** Joins class names and skips absent ones, so that conditions fit in one expression. */
export function classNames(...names: ReadonlyArray<string | false | null | undefined>): string {
  return names.filter(Boolean).join(" ");
}
