import { openApiRoutes } from "../open-api.ts";
import { auditExportRoute } from "./export.ts";
import { revokeRoutes } from "./revoke.ts";

/** What administrators read of the audit log, and how tokens that have leaked are ended. */
export const auditRoutes = openApiRoutes();
for (const route of [auditExportRoute, revokeRoutes]) auditRoutes.route("/", route);
