import { openApiRoutes } from "../open-api.ts";
import { createCollectionRoute } from "./create-collection.ts";
import { collectionItemRoutes } from "./items.ts";
import { listCollectionsRoute } from "./list-collections.ts";
import { oneCollectionRoutes } from "./one-collection.ts";

/** The routes of collections. */
export const collectionRoutes = openApiRoutes();

for (const routes of [listCollectionsRoute, createCollectionRoute, oneCollectionRoutes, collectionItemRoutes]) {
  collectionRoutes.route("/", routes);
}
