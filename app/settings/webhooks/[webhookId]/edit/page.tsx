import type { Metadata } from "next";
import { EditWebhookPage } from "../../../../_components/webhooks/edit-webhook-page.tsx";
import { findWebhookPage } from "../../../../_server/webhooks/find-webhook-page.ts";

export const metadata: Metadata = { title: "Edit webhook" };

export default async function EditOwnWebhookPage({ params }: Readonly<{ params: Promise<{ webhookId: string }> }>) {
  return <EditWebhookPage page={await findWebhookPage(null, (await params).webhookId)} />;
}
