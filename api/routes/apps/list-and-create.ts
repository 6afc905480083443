import { createRoute, z } from "@hono/zod-openapi";
import { errorBodySchema, listedOAuthAppSchema, newOAuthAppSchema, oauthAppSchema } from "@keyhook/sdk";
import { env } from "#core/env.ts";
import { createApp } from "#core/oauth/apps/create-app.ts";
import { getApp } from "#core/oauth/apps/get-app.ts";
import { listApps } from "#core/oauth/apps/list-apps.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { appAddresses, callerAndOwner, ownerParams } from "./app-address.ts";
import { appJson, listedAppJson } from "./app-json.ts";

const noStore = { "Cache-Control": "no-store" };

export const listAndCreateAppsRoutes = openApiRoutes();

for (const { base, of } of appAddresses) {
  const list = createRoute({
    method: "get",
    path: base,
    summary: `List OAuth apps ${of}`,
    description:
      "Twenty at a time, the newest first. Takes a personal access token with the scope manage-repos, or the token of the service's own command line; no app's token is taken.",
    security: withToken,
    request: {
      params: ownerParams,
      query: z.object({
        p: z.coerce.number().int().min(1).default(1).openapi({ description: "The page; the header `Link` names the next." }),
      }),
    },
    responses: { 200: { description: "Apps", content: { "application/json": { schema: z.array(listedOAuthAppSchema) } } } },
  });
  listAndCreateAppsRoutes.openapi(list, async (c) => {
    const { actor, owner } = await callerAndOwner(c, c.req.valid("param").name);
    const { p } = c.req.valid("query");
    const { apps, pageCount } = await listApps(actor, owner, { page: p });
    if (p < pageCount) {
      const next = new URL(c.req.url);
      next.searchParams.set("p", String(p + 1));
      c.header("Link", `<${env().ORIGIN}${next.pathname}${next.search}>; rel="next"`);
    }
    // A page after the end is empty here: a program that counts pages must not read the last one twice.
    return c.json(p > pageCount ? [] : apps.map(listedAppJson), 200, noStore);
  });

  const create = createRoute({
    method: "post",
    path: base,
    summary: `Create an OAuth app ${of}`,
    security: withToken,
    request: {
      params: ownerParams,
      body: { required: true, content: { "application/json": { schema: newOAuthAppSchema } } },
    },
    responses: {
      200: {
        description: "The app; of a confidential one its secret too, which is never shown again",
        content: { "application/json": { schema: z.object({ app: oauthAppSchema, secret: z.string().optional() }) } },
      },
      409: { description: "There are as many as there may be", content: { "application/json": { schema: errorBodySchema } } },
    },
  });
  listAndCreateAppsRoutes.openapi(create, async (c) => {
    const { actor, owner } = await callerAndOwner(c, c.req.valid("param").name);
    const { description, homepageUrl, backchannelLogoutUri, ...settings } = c.req.valid("json");
    const { app, secret } = await createApp(
      actor,
      {
        ...settings,
        ...(description && { description }),
        ...(homepageUrl && { homepageUrl }),
        ...(backchannelLogoutUri && { backchannelLogoutUri }),
        owner,
      },
      requestOriginOf(c),
    );
    return c.json({ app: appJson(await getApp(actor, app.id)), ...(secret !== undefined && { secret }) }, 200, noStore);
  });
}
