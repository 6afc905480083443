/** Where a text stands: what its relative addresses are relative to. */
export type MarkdownPlace = {
  /** The address of the repository's page, such as `/datasets/ada/tides`; none for a text that belongs to none. */
  base?: string;
  /** The branch, tag or commit that is looked at. */
  revision?: string;
  /** The folder of the file within the repository, without slashes around it. */
  folder?: string;
  /** Begins the ids of its headings; different for each of several texts on one page. Lower-case letters, digits and `-`. */
  idPrefix?: string;
};

export const DEFAULT_ID_PREFIX = "md-";
