/** How long after authenticating a user may make sensitive changes (S113): 15 minutes. */
export const RECENT_AUTHENTICATION_SECONDS = 15 * 60;

export function isRecentlyAuthenticated({ authenticatedAt }: { authenticatedAt: Date }, now = new Date()): boolean {
  return now.getTime() - authenticatedAt.getTime() < RECENT_AUTHENTICATION_SECONDS * 1000;
}
