export type PageQuery = Promise<Readonly<Record<string, string | string[] | undefined>>>;

export function textOf(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? "";
}

/** Only the page's own notices count, because `?notice=__proto__` names a property of every object. */
export function noticeOf<Notice>(
  notices: Readonly<Record<string, Notice>>,
  value: string | string[] | undefined,
): Notice | undefined {
  const name = textOf(value);
  return Object.hasOwn(notices, name) ? notices[name] : undefined;
}

const SEARCH_MAX_CHARACTERS = 200;

/** Removes invalid characters, such as half a surrogate pair, because a search for them would find nothing. */
export function searchOf(value: string | string[] | undefined): string {
  return textOf(value).trim().slice(0, SEARCH_MAX_CHARACTERS).toWellFormed().replaceAll("\u{fffd}", "").trim();
}

export function pageOf(value: string | string[] | undefined, max: number): number {
  const page = Number(textOf(value));
  return Number.isInteger(page) ? Math.min(Math.max(page, 1), max) : 1;
}

/** Omits empty values and the first page, so that each page of a list has one URL. */
export function hrefWith(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value && value !== 1 ? [[name, String(value)]] : []));
  return given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path;
}
