/** Where the pages of OAuth apps are: a person's own under settings, an organization's under it. */
export function appListPath(organizationName: string | null): string {
  return organizationName
    ? `/organizations/${encodeURIComponent(organizationName)}/settings/applications`
    : "/settings/applications";
}

export function appPath(organizationName: string | null, appId: string): string {
  return `${appListPath(organizationName)}/${appId}`;
}
