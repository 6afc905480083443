import { z } from "@hono/zod-openapi";
import {
  type AccessRequestJson,
  accessDecisionSchema,
  accessGrantSchema,
  accessRequestSchema,
  repoTypeOfSegment,
} from "@keyhook/sdk";
import { avatarUrl } from "#core/accounts/avatar.ts";
import { notFound } from "#core/errors.ts";
import { type AccessRequest, accessRequestStatuses, listAccessRequests } from "#core/hub/gates/access-requests.ts";
import { withdrawAccessRequest } from "#core/hub/gates/ask-for-access.ts";
import { decideAccessRequest, grantAccess } from "#core/hub/gates/decide-access-request.ts";
import { findRepo, type RepoName } from "#core/hub/repos/find-repo.ts";
import { defineRoute, json } from "../define-route.ts";
import { linkNextPage } from "../next-page.ts";

const PAGE_SIZE = 100;

const type = z.string().openapi({ description: "The type of repository: models, datasets or spaces." });
const done = { 200: json("Done", z.object({ success: z.boolean() })) };

export const gateRoutes = [
  defineRoute("GET /api/{type}/{owner}/{name}/user-access-request/{status}", {
    operationId: "listAccessRequests",
    action: "repo.manage",
    actor: "token",
    summary: "List the users who requested access to a gated repository",
    params: { type, status: z.enum(accessRequestStatuses) },
    query: z.object({ p: z.coerce.number().int().min(0).max(100_000).default(0).openapi({ description: "The page, from 0." }) }),
    responses: {
      200: json(
        "A page of requests, longest waiting first; the header `Link` has the next page's URL",
        z.array(accessRequestSchema),
      ),
    },
    async handle({ c, actor, params, query: { p } }) {
      const wanted = { status: params.status, page: p + 1, pageSize: PAGE_SIZE };
      const { items, total } = await listAccessRequests(actor, repoNameOf(params), wanted);
      c.header("X-Total-Count", String(total));
      if ((p + 1) * PAGE_SIZE < total) linkNextPage(c, { p: p + 1 });
      return items.map(requestJson);
    },
  }),

  defineRoute("POST /api/{type}/{owner}/{name}/user-access-request/handle", {
    operationId: "handleAccessRequest",
    action: "repo.manage",
    actor: "token",
    summary: "Accept or reject a request for access, or undo the decision",
    params: { type },
    body: accessDecisionSchema,
    responses: done,
    async handle({ actor, params, body: { rejectionReason = null, ...decision }, origin }) {
      await decideAccessRequest(actor, repoNameOf(params), { ...decision, rejectionReason }, origin);
      return { success: true };
    },
  }),

  defineRoute("POST /api/{type}/{owner}/{name}/user-access-request/grant", {
    operationId: "grantAccess",
    action: "repo.manage",
    actor: "token",
    summary: "Grant access to a gated repository to a user who did not request it",
    params: { type },
    body: accessGrantSchema,
    responses: done,
    async handle({ actor, params, body, origin }) {
      await grantAccess(actor, repoNameOf(params), body, origin);
      return { success: true };
    },
  }),

  defineRoute("POST /api/{type}/{owner}/{name}/user-access-request/cancel", {
    operationId: "cancelAccessRequest",
    action: "access_request.withdraw",
    actor: "token",
    summary: "Withdraw your own request for access",
    params: { type },
    responses: done,
    async handle({ actor, params, origin }) {
      const { id } = await findRepo(actor, repoNameOf(params));
      await withdrawAccessRequest(actor, id, origin);
      return { success: true };
    },
  }),
];

function repoNameOf({ type: segment, owner, name }: { type: string; owner: string; name: string }): RepoName {
  const type = repoTypeOfSegment(segment);
  if (!type) throw notFound("Repository");
  return { type, owner, name };
}

function requestJson({ user, status, message, askedAt }: AccessRequest): AccessRequestJson {
  return {
    user: {
      _id: user.id,
      user: user.username,
      fullname: user.fullName || user.username,
      ...(user.email !== null && { email: user.email }),
      type: "user",
      avatarUrl: avatarUrl(user.username),
    },
    status,
    fields: message === null ? {} : { message },
    timestamp: askedAt.toISOString(),
  };
}
