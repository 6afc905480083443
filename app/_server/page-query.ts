/** The query of a page's address, as Next hands it to the page. */
export type PageQuery = Promise<Readonly<Record<string, string | string[] | undefined>>>;

/** One value as text: the first where it was given several times, empty where it was not. */
export function textOf(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? "";
}

/**
 * The sentence that a page has for what an address says has just happened. Of its own sentences only: `?notice=__proto__` names
 * something too, which no page can show.
 */
export function noticeOf(notices: Readonly<Record<string, string>>, value: string | string[] | undefined): string | undefined {
  const name = textOf(value);
  return Object.hasOwn(notices, name) ? notices[name] : undefined;
}

const SEARCH_MAX_CHARACTERS = 200;

/** What is looked for: as much as there is any use in, without what is no text (half a character, `%ff`) and finds nothing. */
export function searchOf(value: string | string[] | undefined): string {
  return textOf(value).trim().slice(0, SEARCH_MAX_CHARACTERS).toWellFormed().replaceAll("\u{fffd}", "").trim();
}
