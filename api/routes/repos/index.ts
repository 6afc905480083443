import { openApiRoutes } from "../open-api.ts";
import { createRepoRoute } from "./create-repo.ts";

/** The routes of repositories as such. */
export const repoRoutes = openApiRoutes();

repoRoutes.route("/", createRepoRoute);
