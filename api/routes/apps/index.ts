import { openApiRoutes } from "../open-api.ts";
import { listAndCreateAppsRoutes } from "./list-and-create.ts";
import { oneAppRoutes } from "./one-app.ts";

/** The routes of OAuth apps. */
export const appRoutes = openApiRoutes();

for (const routes of [listAndCreateAppsRoutes, oneAppRoutes]) appRoutes.route("/", routes);
