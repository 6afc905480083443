import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { api } from "./app.ts";

/** Door 2 as a Node handler, for `server.ts` and for the Next route alike. */
export const handleApi = getRequestListener(api.fetch, { overrideGlobalObjects: false }) as (
  req: IncomingMessage,
  res: ServerResponse,
) => Promise<void>;
