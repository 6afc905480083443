import { createRoute, z } from "@hono/zod-openapi";
import { decideAccessRequest } from "#core/hub/gates/decide-access-request.ts";
import { grantAccess } from "#core/hub/gates/grant-access.ts";
import { withdrawAccessRequest } from "#core/hub/gates/withdraw-access-request.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { requireToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { GATE_PATH, repoNameOf, repoParams, whom } from "./gate-request.ts";

const done = { 200: { description: "Done", content: { "application/json": { schema: z.object({ success: z.boolean() }) } } } };

const handle = createRoute({
  method: "post",
  path: `${GATE_PATH}/handle`,
  summary: "Accept or reject a request for access, or take the answer back",
  security: withToken,
  request: {
    params: repoParams,
    body: {
      required: true,
      content: {
        "application/json": {
          schema: whom.extend({
            status: z.string().openapi({ description: "accepted, rejected or pending" }),
            rejectionReason: z.string().nullish().openapi({ description: "Told to the person." }),
          }),
        },
      },
    },
  },
  responses: done,
});

const grant = createRoute({
  method: "post",
  path: `${GATE_PATH}/grant`,
  summary: "Let somebody into a gated repository who has not asked",
  security: withToken,
  request: { params: repoParams, body: { required: true, content: { "application/json": { schema: whom } } } },
  responses: done,
});

const cancel = createRoute({
  method: "post",
  path: `${GATE_PATH}/cancel`,
  summary: "Take back one's own request for access",
  security: withToken,
  request: { params: repoParams },
  responses: done,
});

export const decideAccessRequestRoutes = openApiRoutes()
  .openapi(handle, async (c) => {
    const { actor } = await requireToken(c);
    const { rejectionReason = null, ...decision } = c.req.valid("json");
    await decideAccessRequest(actor, repoNameOf(c.req.valid("param")), { ...decision, rejectionReason }, requestOriginOf(c));
    return c.json({ success: true }, 200);
  })
  .openapi(grant, async (c) => {
    const { actor } = await requireToken(c);
    await grantAccess(actor, repoNameOf(c.req.valid("param")), c.req.valid("json"), requestOriginOf(c));
    return c.json({ success: true }, 200);
  })
  .openapi(cancel, async (c) => {
    const { actor } = await requireToken(c);
    const { id } = await findRepo(actor, repoNameOf(c.req.valid("param")));
    await withdrawAccessRequest(actor, id, requestOriginOf(c));
    return c.json({ success: true }, 200);
  });
