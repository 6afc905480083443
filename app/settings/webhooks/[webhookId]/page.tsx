import type { Metadata } from "next";
import { targetName } from "../../../_components/webhooks/target-name.ts";
import { WebhookPage } from "../../../_components/webhooks/webhook-page.tsx";
import type { PageQuery } from "../../../_server/page-query.ts";
import { findWebhookPage } from "../../../_server/webhooks/find-webhook-page.ts";

type Props = Readonly<{ params: Promise<{ webhookId: string }>; searchParams: PageQuery }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { webhook } = await findWebhookPage(null, (await params).webhookId);
  return { title: targetName(webhook) };
}

export default async function OwnWebhookPage({ params, searchParams }: Props) {
  return <WebhookPage page={await findWebhookPage(null, (await params).webhookId)} query={await searchParams} />;
}
