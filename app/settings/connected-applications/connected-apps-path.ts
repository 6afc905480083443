export function connectedAppsPath(page = 1): string {
  return page > 1 ? `/settings/connected-applications?page=${page}` : "/settings/connected-applications";
}
