import { openApiRoutes } from "../open-api.ts";
import { eventRoutes } from "./events.ts";
import { syncReposRoute } from "./sync-repos.ts";

/** The routes of platforms. */
export const platformRoutes = openApiRoutes();

platformRoutes.route("/", eventRoutes);
platformRoutes.route("/", syncReposRoute);
