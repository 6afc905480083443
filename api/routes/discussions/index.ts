import { openApiRoutes } from "../open-api.ts";

/** The routes of discussions and pull requests. */
export const discussionRoutes = openApiRoutes();
