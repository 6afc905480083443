export { metadata, NewWebhookPage as default } from "../../../../../_components/webhooks/new-webhook-page.tsx";
