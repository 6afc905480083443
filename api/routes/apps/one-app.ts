import { createRoute, z } from "@hono/zod-openapi";
import { errorBodySchema, oauthAppChangesSchema, oauthAppSchema, rotateAppSecretSchema } from "@keyhook/sdk";
import { addSecret } from "#core/oauth/apps/add-secret.ts";
import { deleteApp } from "#core/oauth/apps/delete-app.ts";
import { getApp } from "#core/oauth/apps/get-app.ts";
import { rotateSecret } from "#core/oauth/apps/rotate-secret.ts";
import { updateApp } from "#core/oauth/apps/update-app.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { appAddresses, appParams, callerAndApp } from "./app-address.ts";
import { appJson } from "./app-json.ts";

const schema = z.object({ app: oauthAppSchema });
const answer = { 200: { description: "As it is now", content: { "application/json": { schema } } } };
/** S113: changes with which a stolen token could take the app over. */
const stale = {
  403: {
    description:
      "`reauthentication_required`: this takes the token of the service's own command line, let in by its person within the last 15 minutes",
    content: { "application/json": { schema: errorBodySchema } },
  },
};
const security = withToken;
const noStore = { "Cache-Control": "no-store" };

export const oneAppRoutes = openApiRoutes();

for (const { base, of } of appAddresses) {
  const path = `${base}/{id}` as const;
  const request = { params: appParams };

  const read = createRoute({ method: "get", path, summary: `Read an OAuth app ${of}`, security, request, responses: answer });
  oneAppRoutes.openapi(read, async (c) => {
    const { details } = await callerAndApp(c, c.req.valid("param"));
    return c.json({ app: appJson(details) }, 200, noStore);
  });

  const update = createRoute({
    method: "post",
    path,
    summary: `Change an OAuth app ${of}`,
    description: "What is absent stays as it is. Addresses to which people are sent take a proof of a short while ago.",
    security,
    request: { ...request, body: { required: true, content: { "application/json": { schema: oauthAppChangesSchema } } } },
    responses: { ...answer, ...stale },
  });
  oneAppRoutes.openapi(update, async (c) => {
    const { actor, details } = await callerAndApp(c, c.req.valid("param"));
    const changes = c.req.valid("json");
    await updateApp(actor, details.app.id, withoutAbsent(changes), requestOriginOf(c));
    return c.json({ app: appJson(await getApp(actor, details.app.id)) }, 200, noStore);
  });

  const rotate = createRoute({
    method: "post",
    path: `${path}/rotate-secret`,
    summary: `Give an OAuth app ${of} a new secret, or its first`,
    description: "With `overlapSeconds` the one before goes on working for that long, at most 7 days.",
    security,
    request: { ...request, body: { content: { "application/json": { schema: rotateAppSecretSchema } } } },
    responses: {
      200: {
        description: "The app and its secret, which is never shown again",
        content: { "application/json": { schema: schema.extend({ secret: z.string() }) } },
      },
      ...stale,
    },
  });
  oneAppRoutes.openapi(rotate, async (c) => {
    const { actor, details } = await callerAndApp(c, c.req.valid("param"));
    const { overlapSeconds = 0 } = c.req.valid("json") ?? {};
    const { id } = details.app;
    const { secret } =
      details.secrets.length === 0
        ? await addSecret(actor, id, requestOriginOf(c))
        : await rotateSecret(actor, id, { overlapSeconds }, requestOriginOf(c));
    return c.json({ app: appJson(await getApp(actor, id)), secret }, 200, noStore);
  });

  const remove = createRoute({
    method: "delete",
    path,
    summary: `Delete an OAuth app ${of}: every token of it ends at once`,
    security,
    request,
    responses: { 200: { description: "It is gone", content: { "application/json": { schema: z.object({}) } } }, ...stale },
  });
  oneAppRoutes.openapi(remove, async (c) => {
    const { actor, details } = await callerAndApp(c, c.req.valid("param"));
    await deleteApp(actor, details.app.id, requestOriginOf(c));
    return c.json({}, 200, noStore);
  });
}

/** Null and "" remove optional fields. */
function withoutAbsent({ description, homepageUrl, backchannelLogoutUri, ...changes }: z.infer<typeof oauthAppChangesSchema>) {
  return {
    ...changes,
    ...(description !== undefined && { description: description || null }),
    ...(homepageUrl !== undefined && { homepageUrl: homepageUrl || null }),
    ...(backchannelLogoutUri !== undefined && { backchannelLogoutUri: backchannelLogoutUri || null }),
  };
}
