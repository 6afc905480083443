/** The owner of settings: the name of an organization, or null for the signed-in person. */
export type OwnerName = string | null;

/** A page of the settings of a person or an organization. */
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

/**
 * A bound argument of an action as text. The browser sends it back, so it may have any value, and `String` throws for `{"toString": 1}`
 * (S51). A value that is not text becomes empty, and so does text with NUL, which the database refuses and no name contains.
 */
export const givenText = (text: string | undefined): string => (typeof text === "string" && !text.includes("\0") ? text : "");

/** A text or a bound argument, encoded as one segment of a path. */
export const pathSegment = (text: string): string => encodeURIComponent(givenText(text).toWellFormed());
