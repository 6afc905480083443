import { z } from "@hono/zod-openapi";
import { errorBodySchema, frontMatterCheckSchema, frontMatterSchema, uploadPlanSchema } from "@keyhook/sdk";
import { consumeAddressThrottle } from "#core/accounts/throttle.ts";
import { PATHS_MAX } from "#core/hub/git/read/list-tree.ts";
import { planUpload } from "#core/hub/git/write/plan-upload.ts";
import { checkCard } from "#core/hub/repos/read-card.ts";
import { defineRoute, failure, json, storageFull } from "../../define-route.ts";
import { listOf } from "../../refuse-bad-input.ts";

/** The limit is high, because many people in an office share an IP address. */
const CHECKS_OF_ADDRESS = { limit: 120, windowSeconds: 60 };

const uploadSchema = z.object({
  files: listOf(
    z.object({
      path: z.string(),
      size: z.number().int().nonnegative(),
      sample: z.string().nullish().openapi({ description: "The first bytes of the file, as base64." }),
    }),
    { max: PATHS_MAX, of: "files", code: "invalid_request" },
  ),
  gitAttributes: z
    .string()
    .nullish()
    .openapi({ description: "The content of the `.gitattributes` file that is about to be committed." }),
  gitIgnore: z.string().nullish().openapi({ description: "The content of the `.gitignore` file that is about to be committed." }),
});

export const prepareCommitRoutes = [
  defineRoute("POST /api/{TYPES}/{owner}/{name}/preupload/{rev}", {
    operationId: "planRepoUpload",
    action: "repo.write",
    actor: "token",
    summary: "Get upload instructions for the files of a commit ({type})",
    query: z.object({ create_pr: z.string().optional() }),
    body: uploadSchema,
    // The names of thousands of files, with a sample of each file.
    maxBodyBytes: 8 * 1024 * 1024,
    responses: { 200: json("How to upload each file", uploadPlanSchema), ...storageFull },
    async handle({ actor, repo, params, query, body: { files, gitAttributes, gitIgnore } }) {
      const plans = await planUpload(actor, repo, {
        revision: params.rev,
        isPullRequest: isAsked(query.create_pr),
        files: files.map(({ path, size, sample }) => ({
          path,
          sizeBytes: size,
          sample: sample ? Buffer.from(sample, "base64") : undefined,
        })),
        gitAttributes: gitAttributes ?? undefined,
        gitIgnore: gitIgnore ?? undefined,
      });
      const described = plans.map(({ path, mode, isIgnored, oid }) => ({
        path,
        uploadMode: mode,
        shouldIgnore: isIgnored,
        ...(oid && { oid }),
      }));
      return { files: described };
    },
  }),

  defineRoute("POST /api/validate-yaml", {
    operationId: "validateFrontMatter",
    summary: "Check the front matter of a README before it is committed",
    body: frontMatterSchema,
    maxBodyBytes: 2 * 1024 * 1024,
    responses: {
      200: orText(json("The front matter can be read", frontMatterCheckSchema)),
      400: orText(
        json(
          "The front matter cannot be read, or the request is invalid; `error` says why",
          z.union([frontMatterCheckSchema.extend({ error: z.string() }), errorBodySchema]),
        ),
      ),
      401: failure("A body of more than 64 KiB requires a token"),
    },
    async handle({ c, body: { content, repoType }, origin }) {
      await consumeAddressThrottle("validate-yaml", origin.ip ?? "unknown", CHECKS_OF_ADDRESS);
      const { errors, warnings } = await checkCard(content, repoType);
      // The hub's Python client requests text to check a card, and scripts search that text.
      if (c.req.header("accept")?.startsWith("text/plain")) {
        const lines = [...errors.map((message) => `- Error: ${message}`), ...warnings.map((message) => `- Warning: ${message}`)];
        return c.text(lines.join("\n"), errors.length === 0 ? 200 : 400);
      }
      const toJson = (all: readonly string[]) => all.map((message) => ({ message }));
      const answer = { errors: toJson(errors), warnings: toJson(warnings) };
      if (errors.length === 0) return answer;
      return c.json({ ...answer, error: "The front matter of README.md cannot be read." }, 400);
    },
  }),
];

function orText<Content extends object>(response: { description: string; content: Content }) {
  return { ...response, content: { ...response.content, "text/plain": { schema: z.string() } } };
}

export function isAsked(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false", "False"].includes(value);
}
