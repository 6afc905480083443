import { createRoute, z } from "@hono/zod-openapi";
import { addComment } from "#core/hub/discussions/add-comment.ts";
import { deleteComment } from "#core/hub/discussions/delete-comment.ts";
import { editComment } from "#core/hub/discussions/edit-comment.ts";
import { hideComment } from "#core/hub/discussions/hide-comment.ts";
import { reactions, reactToComment } from "#core/hub/discussions/react-to-comment.ts";
import { requireToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { repoAddresses } from "../repos/repo-address.ts";
import { commentParams, discussionName, discussionParams } from "./discussion-address.ts";
import { commentJson, commentSchema } from "./discussion-json.ts";

const json = <Schema extends z.ZodType>(schema: Schema) =>
  ({ required: true, content: { "application/json": { schema } } }) as const;
const updated = {
  200: {
    description: "The comment as it is now",
    content: { "application/json": { schema: z.object({ updatedComment: commentSchema }) } },
  },
} as const;

const reaction = z.object({ reaction: z.string().openapi({ description: `One of ${Object.keys(reactions).join(" ")}` }) });

export const commentRoutes = openApiRoutes();

for (const { type, base } of repoAddresses) {
  const path = `${base}/{owner}/{name}/discussions/{num}/comment` as const;

  const add = createRoute({
    method: "post",
    path,
    summary: `Comment in a discussion of a ${type}`,
    security: withToken,
    request: { params: discussionParams, body: json(z.object({ comment: z.string() })) },
    responses: {
      200: {
        description: "The comment",
        content: { "application/json": { schema: z.object({ newMessage: commentSchema }) } },
      },
    },
  });
  commentRoutes.openapi(add, async (c) => {
    const { actor } = await requireToken(c);
    const added = await addComment(actor, discussionName(type, c.req.valid("param")), c.req.valid("json"));
    return c.json({ newMessage: commentJson(added) }, 200);
  });

  const edit = createRoute({
    method: "post",
    path: `${path}/{commentId}/edit`,
    summary: `Edit a comment of one's own in a discussion of a ${type}`,
    security: withToken,
    request: { params: commentParams, body: json(z.object({ content: z.string() })) },
    responses: updated,
  });
  commentRoutes.openapi(edit, async (c) => {
    const { actor } = await requireToken(c);
    const { commentId, ...at } = c.req.valid("param");
    const comment = await editComment(actor, discussionName(type, at), commentId, c.req.valid("json"));
    return c.json({ updatedComment: commentJson(comment) }, 200);
  });

  const hide = createRoute({
    method: "post",
    path: `${path}/{commentId}/hide`,
    summary: `Hide a comment in a discussion of a ${type}, for good`,
    security: withToken,
    request: { params: commentParams },
    responses: updated,
  });
  commentRoutes.openapi(hide, async (c) => {
    const { actor } = await requireToken(c);
    const { commentId, ...at } = c.req.valid("param");
    const comment = await hideComment(actor, discussionName(type, at), commentId, requestOriginOf(c));
    return c.json({ updatedComment: commentJson(comment) }, 200);
  });

  const remove = createRoute({
    method: "delete",
    path: `${path}/{commentId}`,
    summary: `Delete a comment in a discussion of a ${type}`,
    security: withToken,
    request: { params: commentParams },
    responses: { 200: { description: "It is gone", content: { "application/json": { schema: z.object({}) } } } },
  });
  commentRoutes.openapi(remove, async (c) => {
    const { actor } = await requireToken(c);
    const { commentId, ...at } = c.req.valid("param");
    await deleteComment(actor, discussionName(type, at), commentId, requestOriginOf(c));
    return c.json({}, 200);
  });

  for (const method of ["post", "delete"] as const) {
    const react = createRoute({
      method,
      path: `${path}/{commentId}/reaction`,
      summary: method === "post" ? `React to a comment of a ${type}` : `Take back a reaction to a comment of a ${type}`,
      security: withToken,
      request: { params: commentParams, body: json(reaction) },
      responses: updated,
    });
    commentRoutes.openapi(react, async (c) => {
      const { actor } = await requireToken(c);
      const { commentId, ...at } = c.req.valid("param");
      const input = { ...c.req.valid("json"), isOn: method === "post" };
      const comment = await reactToComment(actor, discussionName(type, at), commentId, input);
      return c.json({ updatedComment: commentJson(comment) }, 200);
    });
  }
}
