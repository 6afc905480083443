import type { Metadata } from "next";
import { EditWebhookPage } from "../../../../../../_components/webhooks/edit-webhook-page.tsx";
import { findWebhookPage } from "../../../../../../_server/webhooks/find-webhook-page.ts";

export const metadata: Metadata = { title: "Edit webhook" };

export default async function EditOrganizationWebhookPage({
  params,
}: Readonly<{ params: Promise<{ org: string; webhookId: string }> }>) {
  const { org, webhookId } = await params;
  return <EditWebhookPage page={await findWebhookPage(org, webhookId)} />;
}
