import { openApiRoutes } from "../open-api.ts";
import { authCheckRoutes } from "./auth-check.ts";
import { createRepoRoute } from "./create-repo.ts";
import { deleteRepoRoute } from "./delete-repo.ts";
import { elsewhereRoutes } from "./elsewhere.ts";
import { listReposRoutes } from "./list-repos.ts";
import { moveRepoRoute } from "./move-repo.ts";
import { repoSettingsRoutes } from "./repo-settings.ts";

/** The routes of repositories themselves. */
export const repoRoutes = openApiRoutes();

for (const routes of [
  createRepoRoute,
  moveRepoRoute,
  deleteRepoRoute,
  listReposRoutes,
  repoSettingsRoutes,
  authCheckRoutes,
  elsewhereRoutes,
]) {
  repoRoutes.route("/", routes);
}
