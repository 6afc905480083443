import type { Metadata } from "next";
import { NewWebhookPage } from "../../../../../_components/webhooks/new-webhook-page.tsx";
import type { PageQuery } from "../../../../../_server/page-query.ts";
import { findWebhookOwner } from "../../../../../_server/webhooks/find-webhook-owner.ts";

export const metadata: Metadata = { title: "New webhook" };

type Props = Readonly<{ params: Promise<{ org: string }>; searchParams: PageQuery }>;

export default async function NewOrganizationWebhookPage({ params, searchParams }: Props) {
  return <NewWebhookPage place={await findWebhookOwner((await params).org)} query={await searchParams} />;
}
