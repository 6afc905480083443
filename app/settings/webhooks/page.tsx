import type { Metadata } from "next";
import { WebhookListPage } from "../../_components/webhooks/webhook-list-page.tsx";
import type { PageQuery } from "../../_server/page-query.ts";
import { findWebhookOwner } from "../../_server/webhooks/find-webhook-owner.ts";

export const metadata: Metadata = { title: "Webhooks" };

export default async function WebhooksPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  return <WebhookListPage place={await findWebhookOwner(null)} query={await searchParams} />;
}
