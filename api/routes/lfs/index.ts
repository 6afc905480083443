import { openApiRoutes } from "../open-api.ts";

/** The routes of Git LFS. */
export const lfsRoutes = openApiRoutes();
