import { openApiRoutes } from "../open-api.ts";

/** The routes of what is in a repository. */
export const contentRoutes = openApiRoutes();
