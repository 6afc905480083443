import { openApiRoutes } from "../open-api.ts";

/** The routes of platforms beside us. */
export const platformRoutes = openApiRoutes();
