import { z } from "@hono/zod-openapi";
import { duplicatedRepoSchema, errorBodySchema, repoTypes } from "@keyhook/sdk";
import { requirePermission } from "#core/access/may.ts";
import { type PermissionCheck, recheckPermission, requireChangeable } from "#core/hub/git/refs/require-changeable.ts";
import { copyLfsObjects } from "#core/hub/lfs/objects/copy-lfs-objects.ts";
import { findLfsObjects } from "#core/hub/lfs/objects/find-lfs-object.ts";
import { duplicateRepo } from "#core/hub/repos/duplicate-repo.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { repoResource, repoWebUrl } from "#core/hub/repos/repo.ts";
import { setSpaceVariable } from "#core/spaces/variables.ts";
import { defineRoute, json, storageFull } from "../define-route.ts";
import { listOf } from "../refuse-bad-input.ts";
import { answerTaken, parseFullName } from "./repos.ts";

const FILES_MAX = 1_000;
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "write 64 hex digits");

export const duplicateRoutes = [
  defineRoute("POST /api/{TYPES}/{owner}/{name}/duplicate", {
    operationId: "duplicateRepo",
    action: "repo.create",
    actor: "token",
    summary: "Copy a {type}, with its history, under another name",
    description:
      "Branches, tags and large files are copied; pull requests, discussions and settings are not. Without `visibility`, the copy of a private " +
      "or gated repository is private.",
    body: duplicatedRepoSchema,
    responses: {
      200: json("The copy", z.object({ url: z.string(), filesCopyPending: z.boolean() })),
      409: json(
        "A repository with this name exists, and `url` is its URL; or the copy would need much more space than its source",
        errorBodySchema.extend({ url: z.string().optional() }),
      ),
      ...storageFull,
    },
    async handle({ c, actor, actorNow, repo, body, origin }) {
      const { visibility, private: isPrivate, secrets, variables } = body;
      const to = parseFullName(body.repository, repo.type, "", "repository");
      const environment = [
        ...(variables ?? []).map((one) => ({ ...one, isSecret: false })),
        ...(secrets ?? []).map((one) => ({ ...one, isSecret: true })),
      ];
      const copy = {
        ...to,
        isPrivate: visibility ? visibility === "private" : (isPrivate ?? undefined),
        prepare: async () => {
          for (const { key, ...one } of environment) await setSpaceVariable(actor, to, { name: key, ...one }, origin);
        },
      };
      try {
        return { url: repoWebUrl(await duplicateRepo(actor, repo, copy, origin, actorNow)), filesCopyPending: false };
      } catch (error) {
        return answerTaken(c, actor, to, error);
      }
    },
  }),

  defineRoute("POST /api/{TYPES}/{owner}/{name}/lfs-files/duplicate", {
    operationId: "duplicateRepoFiles",
    action: "repo.write",
    actor: "token",
    summary: "Copy large files of a {type} to another repository, for a commit there",
    description: "Requires permission to read the content of this repository, and to write to the other one.",
    maxBodyBytes: 1024 * 1024,
    body: z.object({
      target: z.object({ type: z.enum(repoTypes), name: z.string() }),
      files: listOf(z.object({ sha256 }), { max: FILES_MAX, of: "files" }),
    }),
    responses: {
      200: json(
        "The files that this repository does not have",
        z.object({ failed: z.array(z.object({ sha256, error: z.string() })) }),
      ),
      ...storageFull,
    },
    async handle({ actor, actorNow, repo, body: { target, files } }) {
      const source = await findRepo(actor, repo, "repo.read_content");
      const copy = await findRepo(actor, parseFullName(target.name, target.type, "", "target.name"), "repo.write");
      requireChangeable(copy);
      const ask =
        (action: "repo.read_content" | "repo.write"): PermissionCheck =>
        (now, current) =>
          requirePermission(now, action, repoResource(current), { what: "Repository" });
      const mayStill = async () => {
        await recheckPermission(source, actorNow, ask("repo.read_content"));
        await recheckPermission(copy, actorNow, ask("repo.write"));
      };
      const found = await findLfsObjects(
        source.id,
        files.map((file) => file.sha256),
      );
      await copyLfsObjects(source, copy, [...found.keys()], { mayStill });
      const missing = files.filter((file) => !found.has(file.sha256));
      return { failed: missing.map((file) => ({ sha256: file.sha256, error: "This repository does not have this file." })) };
    },
  }),
];
