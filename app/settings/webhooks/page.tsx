export { metadata, WebhookListPage as default } from "../../_components/webhooks/webhook-list-page.tsx";
