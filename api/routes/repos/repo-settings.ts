import { createRoute, z } from "@hono/zod-openapi";
import { updateRepoSettings } from "#core/hub/repos/update-repo-settings.ts";
import { requireToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { repoAddresses, repoParams } from "./repo-address.ts";
import { repoJson, repoSchema } from "./repo-json.ts";

/** Named as in events (`updatedConfig`); newer clients send `visibility` instead of `private`. */
const body = z.object({
  visibility: z.enum(["public", "private"]).optional(),
  private: z.boolean().optional(),
  gated: z.union([z.literal(false), z.enum(["auto", "manual"])]).optional(),
  gatePrompt: z.string().nullish(),
  description: z.string().nullish(),
  sdk: z.string().nullish(),
  defaultBranch: z.string().optional(),
  readOnly: z.boolean().optional(),
  defaultBranchProtected: z.boolean().optional(),
  discussionsDisabled: z.boolean().optional(),
});

export const repoSettingsRoutes = openApiRoutes();

for (const { type, base } of repoAddresses) {
  for (const method of ["put", "post"] as const) {
    const route = createRoute({
      method,
      path: `${base}/{owner}/{name}/settings`,
      summary: `Change settings of a ${type}`,
      description: "What is left out stays. All that change together are one event.",
      security: withToken,
      request: { params: repoParams, body: { required: true, content: { "application/json": { schema: body } } } },
      responses: { 200: { description: "As it is now", content: { "application/json": { schema: repoSchema } } } },
    });
    repoSettingsRoutes.openapi(route, async (c) => {
      const { actor } = await requireToken(c);
      const {
        visibility,
        private: isPrivate,
        readOnly,
        defaultBranchProtected,
        discussionsDisabled,
        ...same
      } = c.req.valid("json");
      const repo = await updateRepoSettings(
        actor,
        { type, ...c.req.valid("param") },
        {
          ...same,
          isPrivate: visibility ? visibility === "private" : isPrivate,
          isReadOnly: readOnly,
          isDefaultBranchProtected: defaultBranchProtected,
          hasDiscussions: discussionsDisabled === undefined ? undefined : !discussionsDisabled,
        },
        requestOriginOf(c),
      );
      return c.json(repoJson(repo), 200);
    });
  }
}
