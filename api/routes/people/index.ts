import { openApiRoutes } from "../open-api.ts";
import { avatarRoutes } from "./avatar.ts";
import { organizationMembersRoute } from "./organization-members.ts";
import { organizationOverviewRoute } from "./organization-overview.ts";
import { userOverviewRoute } from "./user-overview.ts";

/** The routes of users and organizations. */
export const peopleRoutes = openApiRoutes();

for (const routes of [userOverviewRoute, organizationOverviewRoute, organizationMembersRoute, avatarRoutes]) {
  peopleRoutes.route("/", routes);
}
