import { openApiRoutes } from "../open-api.ts";
import { auditExportRoute } from "./export.ts";
import { revokeRoutes } from "./revoke.ts";

/** What administrators can read of the audit log, and revoking leaked tokens. */
export const auditRoutes = openApiRoutes();
for (const route of [auditExportRoute, revokeRoutes]) auditRoutes.route("/", route);
