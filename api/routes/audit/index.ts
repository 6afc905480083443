import { openApiRoutes } from "../open-api.ts";
import { auditExportRoute } from "./export.ts";

/** What administrators read of the audit log, and how tokens that have leaked are ended. */
export const auditRoutes = openApiRoutes();
for (const route of [auditExportRoute]) auditRoutes.route("/", route);
