import { openApiRoutes } from "../open-api.ts";
import { decideAccessRequestRoutes } from "./decide-access-request.ts";
import { listAccessRequestsRoute } from "./list-access-requests.ts";

/** The routes of gated repositories. Requesting access is not among them: users do that on the repository's page. */
export const gateRoutes = openApiRoutes();

gateRoutes.route("/", listAccessRequestsRoute);
gateRoutes.route("/", decideAccessRequestRoutes);
