export const HOSTS_PATH = "/admin/hosts";

export type HostsQuery = Readonly<{ search?: string; page?: number; rules?: number }>;

/** Where on the page the apps seen and the rules are: whoever looks for more of them is brought back there. */
export const SEEN = "seen";
export const RULES = "rules";

/** The page with what it shows: the search and page of the documents, and the page of the rules. */
export function hostsPath({ search, page = 1, rules = 1 }: HostsQuery, notice?: string): string {
  const query = new URLSearchParams({
    ...(search && { search }),
    ...(page > 1 && { page: String(page) }),
    ...(rules > 1 && { rules: String(rules) }),
    ...(notice && { notice }),
  });
  return query.size > 0 ? `${HOSTS_PATH}?${query}` : HOSTS_PATH;
}

/** The page that asks before a host is blocked. */
export function blockHostPath(host: string, note = ""): string {
  return `${HOSTS_PATH}/block?${new URLSearchParams({ host, ...(note && { note }) })}`;
}
