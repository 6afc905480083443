import type { AppDetails } from "#core/oauth/apps/get-app.ts";
import { pathSegment } from "../path-segment.ts";

/** Where the pages of OAuth apps are: a person's own under settings, an organization's under it. */
export function appListPath(organizationName: string | null): string {
  return organizationName ? `/organizations/${pathSegment(organizationName)}/settings/applications` : "/settings/applications";
}

/** The name under which an app's page is for whoever looks at it: of an organization, or null for among their own apps. */
export function appHome({ organization, boundOrganization, isOwner }: AppDetails): string | null {
  return organization?.name ?? (isOwner ? null : (boundOrganization?.name ?? null));
}

export function appPath(organizationName: string | null, appId: string): string {
  return `${appListPath(organizationName)}/${pathSegment(appId)}`;
}
