/** The query of a page's address, as Next hands it to the page. */
export type PageQuery = Promise<Readonly<Record<string, string | string[] | undefined>>>;
