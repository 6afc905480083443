import { openApiRoutes } from "../open-api.ts";

/** The routes of gated repositories. */
export const gateRoutes = openApiRoutes();
