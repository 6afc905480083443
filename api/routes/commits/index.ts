import { openApiRoutes } from "../open-api.ts";

/** The routes of changes of a repository's content. */
export const commitRoutes = openApiRoutes();
