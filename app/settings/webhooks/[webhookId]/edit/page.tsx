export { EditWebhookPage as default, metadata } from "../../../../_components/webhooks/edit-webhook-page.tsx";
