export { generateMetadata, WebhookPage as default } from "../../../../../_components/webhooks/webhook-page.tsx";
