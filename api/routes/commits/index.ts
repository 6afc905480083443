import { openApiRoutes } from "../open-api.ts";
import { branchRoutes } from "./branches.ts";
import { createCommitRoutes } from "./create-commit.ts";
import { preuploadRoutes } from "./preupload.ts";
import { tagRoutes } from "./tags.ts";
import { validateYamlRoute } from "./validate-yaml.ts";

/** The routes of changes of a repository's content. */
export const commitRoutes = openApiRoutes();

for (const routes of [preuploadRoutes, createCommitRoutes, branchRoutes, tagRoutes, validateYamlRoute]) {
  commitRoutes.route("/", routes);
}
