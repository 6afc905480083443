import type { Metadata } from "next";
import { targetName } from "../../../../../_components/webhooks/target-name.ts";
import { WebhookPage } from "../../../../../_components/webhooks/webhook-page.tsx";
import type { PageQuery } from "../../../../../_server/page-query.ts";
import { findWebhookPage } from "../../../../../_server/webhooks/find-webhook-page.ts";

type Props = Readonly<{ params: Promise<{ org: string; webhookId: string }>; searchParams: PageQuery }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { org, webhookId } = await params;
  const { webhook } = await findWebhookPage(org, webhookId);
  return { title: targetName(webhook) };
}

export default async function OrganizationWebhookPage({ params, searchParams }: Props) {
  const { org, webhookId } = await params;
  return <WebhookPage page={await findWebhookPage(org, webhookId)} query={await searchParams} />;
}
