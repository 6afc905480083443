import { z } from "@hono/zod-openapi";
import { likerSchema, likeSchema } from "@keyhook/sdk";
import { avatarUrl } from "#core/accounts/avatar.ts";
import { LIKES_PAGE, LIKES_PAGES_MAX, listLikers, listLikesOfUser, setLike } from "#core/hub/repos/likes.ts";
import { defineRoute, json } from "../define-route.ts";
import { linkNextPage, pageNumber } from "../next-page.ts";
import { findPublicOwner } from "./people.ts";

const pages = z.object({
  p: pageNumber(LIKES_PAGES_MAX),
});

export const likeRoutes = [
  ...(["POST", "DELETE"] as const).map((method) =>
    defineRoute(`${method} /api/{TYPES}/{owner}/{name}/like`, {
      operationId: method === "POST" ? "likeRepo" : "unlikeRepo",
      action: "discussion.write",
      actor: "token",
      summary: method === "POST" ? "Like a {type}" : "Remove your like from a {type}",
      responses: { 200: json("Done, even if nothing changed", z.object({})) },
      async handle({ actor, repo }) {
        await setLike(actor, repo, method === "POST");
        return {};
      },
    }),
  ),

  defineRoute("GET /api/{TYPES}/{owner}/{name}/likers", {
    operationId: "listRepoLikers",
    action: "repo.read",
    actor: "anyone",
    summary: "List the users who like a {type}",
    query: pages,
    responses: { 200: json("The users, newest like first", z.array(likerSchema)) },
    async handle({ c, actor, repo, query: { p } }) {
      const likers = await listLikers(actor, repo, p);
      if (likers.length === LIKES_PAGE && p < LIKES_PAGES_MAX) linkNextPage(c, { p: p + 1 });
      return likers.map(({ username, fullName }) => ({ user: username, fullname: fullName, avatarUrl: avatarUrl(username) }));
    },
  }),

  defineRoute("GET /api/users/{name}/likes", {
    operationId: "listLikesOfUser",
    actor: "anyone",
    summary: "List the public repositories that a user likes",
    query: pages,
    responses: { 200: json("The likes, newest first", z.array(likeSchema)) },
    async handle({ c, params, query: { p } }) {
      const likes = await listLikesOfUser((await findPublicOwner(params.name, "user")).id, p);
      if (likes.length === LIKES_PAGE && p < LIKES_PAGES_MAX) linkNextPage(c, { p: p + 1 });
      return likes.map(({ type, fullName, createdAt }) => ({
        createdAt: createdAt.toISOString(),
        repo: { name: fullName, type },
      }));
    },
  }),
];
