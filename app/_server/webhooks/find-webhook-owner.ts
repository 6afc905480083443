import { notFound } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { type WebhookOwner, webhookNamespace } from "#core/webhooks/manage/webhook.ts";
import { requireOrganizationPage } from "../organization-page.ts";
import { requirePerson } from "../session.ts";
import { type WebhookHome, webhookListPath } from "./webhook-paths.ts";

export type WebhookPlace = Readonly<{
  person: Person;
  owner: WebhookOwner;
  /** The organization's name as it spells it, or null. */
  home: WebhookHome;
  /** In sentences: `Tidepool`, or null for the person's own. */
  fullName: string | null;
}>;

/**
 * Whose webhooks an address is about, and who looks at them; the page of unknown things for those who may not (S136).
 * @param home from the address, or from a form: it may be anything
 */
export async function findWebhookOwner(home: WebhookHome): Promise<WebhookPlace> {
  if (home === null) {
    const person = await requirePerson(webhookListPath(null));
    return { person, owner: { kind: "user", id: person.userId }, home, fullName: null };
  }
  const { person, organization } = await requireOrganizationPage(home);
  const owner = { kind: "organization", id: organization.id } as const;
  if (!(await may(person, "webhook.read", webhookNamespace(owner)))) notFound();
  return { person, owner, home: organization.name, fullName: organization.fullName };
}
