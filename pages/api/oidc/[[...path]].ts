import type { NextApiRequest, NextApiResponse } from "next";
import { clientAddress } from "#core/http/client-address.ts";
import { handleOidc } from "#core/oauth/handler.ts";

/** The engine reads the body itself. */
export const config = { api: { bodyParser: false, externalResolver: true } };

export default function protocol(req: NextApiRequest, res: NextApiResponse): Promise<void> {
  req.url = req.url?.replace(/^\/api\/oidc(?=\/)/, "");
  return handleOidc(req, res, clientAddress(req) ?? "");
}
