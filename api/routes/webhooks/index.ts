import { openApiRoutes } from "../open-api.ts";
import { deliveryRoutes } from "./activity/deliveries.ts";
import { liveActivityRoutes } from "./activity/live.ts";
import { replayRoutes } from "./activity/replays.ts";
import { listAndCreateWebhooksRoutes } from "./list-and-create.ts";
import { oneWebhookRoutes } from "./one-webhook.ts";

/** The routes of webhooks. */
export const webhookRoutes = openApiRoutes();

for (const routes of [listAndCreateWebhooksRoutes, oneWebhookRoutes, liveActivityRoutes, deliveryRoutes, replayRoutes]) {
  webhookRoutes.route("/", routes);
}
