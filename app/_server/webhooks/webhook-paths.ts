import { pathSegment } from "../path-segment.ts";

/** Whose webhooks the pages are of: an organization's by its name, or null for the person's own. */
export type WebhookHome = string | null;

/** Where the pages of webhooks are: a person's own under settings, an organization's under it. */
export function webhookListPath(home: WebhookHome): string {
  return home === null ? "/settings/webhooks" : `/organizations/${pathSegment(home)}/settings/webhooks`;
}

export function webhookPath(home: WebhookHome, webhookId: string): string {
  return `${webhookListPath(home)}/${pathSegment(webhookId)}`;
}

/** Where the runs of the same owner are. */
export function jobsPath(home: WebhookHome): string {
  return webhookListPath(home).replace(/webhooks$/, "jobs");
}
