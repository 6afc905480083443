import { openApiRoutes } from "../open-api.ts";

/** The routes of collections. */
export const collectionRoutes = openApiRoutes();
