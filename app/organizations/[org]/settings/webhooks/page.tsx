import type { Metadata } from "next";
import { WebhookListPage } from "../../../../_components/webhooks/webhook-list-page.tsx";
import type { PageQuery } from "../../../../_server/page-query.ts";
import { findWebhookOwner } from "../../../../_server/webhooks/find-webhook-owner.ts";

export const metadata: Metadata = { title: "Webhooks" };

type Props = Readonly<{ params: Promise<{ org: string }>; searchParams: PageQuery }>;

export default async function OrganizationWebhooksPage({ params, searchParams }: Props) {
  return <WebhookListPage place={await findWebhookOwner((await params).org)} query={await searchParams} />;
}
