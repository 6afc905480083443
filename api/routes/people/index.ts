import { openApiRoutes } from "../open-api.ts";

/** The routes of users and organizations. */
export const peopleRoutes = openApiRoutes();
