import { openApiRoutes } from "../open-api.ts";
import { spaceLogRoutes } from "./logs.ts";
import { spaceRuntimeRoutes } from "./runtime.ts";
import { spaceVariableRoutes } from "./variables.ts";

/** The routes of Spaces that are not about their repositories (docs/guides/spaces.md). */
export const spaceRoutes = openApiRoutes();

for (const routes of [spaceRuntimeRoutes, spaceLogRoutes, spaceVariableRoutes]) spaceRoutes.route("/", routes);
