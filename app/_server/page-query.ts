/** The query of a page's address, as Next hands it to the page. */
export type PageQuery = Promise<Readonly<Record<string, string | string[] | undefined>>>;

/** One value as text: the first where it was given several times, empty where it was not. */
export function textOf(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? "";
}
