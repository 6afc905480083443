import { z } from "@hono/zod-openapi";
import { commentSchema, editedCommentSchema, newCommentSchema } from "@keyhook/sdk";
import {
  addComment,
  deleteComment,
  editComment,
  hideComment,
  reactions,
  reactToComment,
} from "#core/hub/discussions/comments.ts";
import { defineRoute, json } from "../../define-route.ts";
import { commentJson, discussionName } from "./discussion-json.ts";

const reactionSchema = z.object({
  reaction: z.string().openapi({ description: `One of ${Object.keys(reactions).join(" ")}` }),
});
const updated = { 200: json("The changed comment", z.object({ updatedComment: commentSchema })) };

export const commentRoutes = [
  defineRoute("POST /api/{TYPES}/{owner}/{name}/discussions/{num}/comment", {
    operationId: "createRepoComment",
    action: "discussion.write",
    actor: "token",
    summary: "Comment on a discussion of a {type}",
    body: newCommentSchema,
    maxBodyBytes: 1024 * 1024,
    responses: { 200: json("The comment", z.object({ newMessage: commentSchema })) },
    handle: async ({ actor, repo, params, body }) => ({
      newMessage: commentJson(await addComment(actor, discussionName(repo, params.num), body)),
    }),
  }),

  defineRoute("POST /api/{TYPES}/{owner}/{name}/discussions/{num}/comment/{commentId}/edit", {
    operationId: "editRepoComment",
    action: "discussion.edit_comment",
    actor: "token",
    summary: "Edit your own comment in a discussion of a {type}",
    body: editedCommentSchema,
    maxBodyBytes: 1024 * 1024,
    responses: updated,
    async handle({ actor, repo, params: { num, commentId }, body }) {
      return { updatedComment: commentJson(await editComment(actor, discussionName(repo, num), commentId, body)) };
    },
  }),

  defineRoute("POST /api/{TYPES}/{owner}/{name}/discussions/{num}/comment/{commentId}/hide", {
    operationId: "hideRepoComment",
    action: "discussion.update",
    actor: "token",
    summary: "Permanently hide a comment in a discussion of a {type}",
    responses: updated,
    async handle({ actor, repo, params: { num, commentId }, origin }) {
      return { updatedComment: commentJson(await hideComment(actor, discussionName(repo, num), commentId, origin)) };
    },
  }),

  defineRoute("DELETE /api/{TYPES}/{owner}/{name}/discussions/{num}/comment/{commentId}", {
    operationId: "deleteRepoComment",
    action: "discussion.update",
    actor: "token",
    summary: "Delete a comment in a discussion of a {type}",
    responses: { 200: json("Deleted", z.object({})) },
    async handle({ actor, repo, params: { num, commentId }, origin }) {
      await deleteComment(actor, discussionName(repo, num), commentId, origin);
      return {};
    },
  }),

  defineRoute("POST /api/{TYPES}/{owner}/{name}/discussions/{num}/comment/{commentId}/reaction", {
    operationId: "addRepoReaction",
    action: "discussion.write",
    actor: "token",
    summary: "React to a comment in a discussion of a {type}",
    body: reactionSchema,
    responses: updated,
    async handle({ actor, repo, params: { num, commentId }, body: { reaction } }) {
      const comment = await reactToComment(actor, discussionName(repo, num), commentId, { reaction, isOn: true });
      return { updatedComment: commentJson(comment) };
    },
  }),

  defineRoute("DELETE /api/{TYPES}/{owner}/{name}/discussions/{num}/comment/{commentId}/reaction", {
    operationId: "deleteRepoReaction",
    action: "discussion.write",
    actor: "token",
    summary: "Remove your reaction to a comment in a discussion of a {type}",
    body: reactionSchema,
    responses: updated,
    async handle({ actor, repo, params: { num, commentId }, body: { reaction } }) {
      const comment = await reactToComment(actor, discussionName(repo, num), commentId, { reaction, isOn: false });
      return { updatedComment: commentJson(comment) };
    },
  }),
];
