import { openApiRoutes } from "../open-api.ts";
import { changeRoutes } from "./changes.ts";
import { commentRoutes } from "./comments.ts";
import { listAndOpenRoutes } from "./list-and-open.ts";
import { oneDiscussionRoutes } from "./one-discussion.ts";

/** Discussions and pull requests (docs/specification/repositories-and-git.md#discussions-and-pull-requests). */
export const discussionRoutes = openApiRoutes();

for (const routes of [listAndOpenRoutes, oneDiscussionRoutes, commentRoutes, changeRoutes]) discussionRoutes.route("/", routes);
