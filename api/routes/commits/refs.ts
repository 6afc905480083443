import { z } from "@hono/zod-openapi";
import { madeRefSchema, newBranchSchema, newTagSchema, squashSchema } from "@keyhook/sdk";
import { createBranch, createTag, deleteBranch, deleteTag, superSquash } from "#core/hub/git/write/branches-and-tags.ts";
import { defineRoute, failure, json, storageFull } from "../../define-route.ts";

const branch = z.string().openapi({ description: "The branch, with slashes as %2F." });

export const refRoutes = [
  defineRoute("POST /api/{TYPES}/{owner}/{name}/branch/{branch}", {
    operationId: "createRepoBranch",
    action: "repo.write",
    actor: "token",
    summary: "Create a branch ({type})",
    params: { branch },
    body: newBranchSchema,
    isBodyOptional: true,
    responses: {
      200: json("The branch", madeRefSchema),
      ...storageFull,
      409: failure("The branch already exists, or there are too many branches and tags"),
    },
    async handle({ actor, actorNow, repo, params: { branch }, body: { startingPoint, emptyBranch, overwrite } }) {
      const made = {
        branch,
        startingPoint: startingPoint ?? undefined,
        isEmpty: emptyBranch ?? false,
        isOverwriting: overwrite ?? false,
      };
      const { sha } = await createBranch(actor, repo, made, actorNow);
      return { ref: `refs/heads/${branch}`, commitOid: sha };
    },
  }),

  defineRoute("DELETE /api/{TYPES}/{owner}/{name}/branch/{branch}", {
    operationId: "deleteRepoBranch",
    action: "repo.write",
    actor: "token",
    summary: "Delete a branch ({type})",
    params: { branch },
    responses: { 200: json("Deleted", z.object({})) },
    async handle({ actor, actorNow, repo, params: { branch } }) {
      await deleteBranch(actor, repo, branch, actorNow);
      return {};
    },
  }),

  defineRoute("POST /api/{TYPES}/{owner}/{name}/super-squash/{branch}", {
    operationId: "squashRepoBranch",
    action: "repo.write",
    actor: "token",
    summary: "Replace the history of a branch or a pull request with one commit ({type})",
    params: { branch: z.string().openapi({ description: "The branch, or `refs/pr/<num>`, with slashes as %2F." }) },
    body: squashSchema,
    isBodyOptional: true,
    responses: { 200: json("The branch", madeRefSchema), ...storageFull },
    async handle({ actor, actorNow, repo, params: { branch }, body: { message } }) {
      const { sha, ref } = await superSquash(actor, repo, { branch, message: message ?? undefined }, actorNow);
      return { ref, commitOid: sha };
    },
  }),

  defineRoute("POST /api/{TYPES}/{owner}/{name}/tag/{rev}", {
    operationId: "createRepoTag",
    action: "repo.write",
    actor: "token",
    summary: "Tag a commit ({type})",
    params: { rev: z.string().openapi({ description: "The revision to tag, with slashes as %2F." }) },
    body: newTagSchema,
    responses: {
      200: json("The tag, and its commit", madeRefSchema),
      409: failure("The tag already exists, or there are too many branches and tags"),
      ...storageFull,
    },
    async handle({ actor, actorNow, repo, params: { rev }, body: { tag, message } }) {
      const { sha } = await createTag(actor, repo, { tag, revision: rev, message: message ?? undefined }, actorNow);
      return { ref: `refs/tags/${tag}`, commitOid: sha };
    },
  }),

  defineRoute("DELETE /api/{TYPES}/{owner}/{name}/tag/{tag}", {
    operationId: "deleteRepoTag",
    action: "repo.write",
    actor: "token",
    summary: "Delete a tag ({type})",
    responses: { 200: json("Deleted", z.object({})) },
    async handle({ actor, actorNow, repo, params: { tag } }) {
      await deleteTag(actor, repo, tag, actorNow);
      return {};
    },
  }),
];
