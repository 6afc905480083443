/** An organization's name, or null for the signed-in user. */
export type OwnerName = string | null;

export function settingsPath(home: OwnerName, page: string): string {
  return home === null ? `/settings/${page}` : `/organizations/${pathSegment(home)}/settings/${page}`;
}

export const appListPath = (home: OwnerName): string => settingsPath(home, "applications");
export const appPath = (home: OwnerName, appId: string): string => `${appListPath(home)}/${pathSegment(appId)}`;

export const jobListPath = (home: OwnerName): string => settingsPath(home, "jobs");
export const jobPath = (home: OwnerName, runId: string): string => `${jobListPath(home)}/${pathSegment(runId)}`;
export const schedulesPath = (home: OwnerName): string => `${jobListPath(home)}/schedules`;

export const webhookListPath = (home: OwnerName): string => settingsPath(home, "webhooks");
export const webhookPath = (home: OwnerName, webhookId: string): string => `${webhookListPath(home)}/${pathSegment(webhookId)}`;

/** Bound arguments may have any value. `String` throws for `{"toString": 1}`, and the database refuses NUL (S51). */
export const givenText = (text: string | undefined): string => (typeof text === "string" && !text.includes("\0") ? text : "");

export const pathSegment = (text: string): string => encodeURIComponent(givenText(text).toWellFormed());
