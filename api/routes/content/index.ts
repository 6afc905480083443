import { openApiRoutes } from "../open-api.ts";
import { fileRoutes } from "./files.ts";
import { historyRoutes } from "./history.ts";
import { repoInfoRoutes } from "./repo-info.ts";
import { treeRoutes } from "./tree.ts";

/** The routes of what is in a repository. */
export const contentRoutes = openApiRoutes();

for (const routes of [repoInfoRoutes, treeRoutes, historyRoutes, fileRoutes]) contentRoutes.route("/", routes);
