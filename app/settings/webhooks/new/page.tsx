import type { Metadata } from "next";
import { NewWebhookPage } from "../../../_components/webhooks/new-webhook-page.tsx";
import type { PageQuery } from "../../../_server/page-query.ts";
import { findWebhookOwner } from "../../../_server/webhooks/find-webhook-owner.ts";

export const metadata: Metadata = { title: "New webhook" };

export default async function NewOwnWebhookPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  return <NewWebhookPage place={await findWebhookOwner(null)} query={await searchParams} />;
}
