import { z } from "@hono/zod-openapi";
import type { Repo } from "#core/hub/repos/repo.ts";
import { appUrl } from "#core/spaces/app-address.ts";
import { readSpaceConfig } from "#core/spaces/space-config.ts";
import type { SpaceRuntime } from "#core/spaces/space-runtime.ts";
import { SLEEP_AFTER_SECONDS, SPACE_FLAVOR, type SpaceStage } from "#core/spaces/stages.ts";

/** The runtime of a Space, as existing clients read it (docs/specification/jobs-and-spaces.md#spaces). */
export const runtimeSchema = z.object({
  stage: z.string(),
  hardware: z.object({ current: z.string().nullable(), requested: z.string().nullable() }),
  storage: z.null(),
  gcTimeout: z.number().nullable().openapi({ description: "After how many seconds without a request it sleeps." }),
  sha: z.string().optional().openapi({ description: "The commit that runs, or ran last." }),
  errorMessage: z.string().optional(),
  domains: z.array(z.object({ domain: z.string(), stage: z.string() })),
});

export function runtimeJson(repo: Repo, runtime: SpaceRuntime | undefined): z.infer<typeof runtimeSchema> {
  const stage: SpaceStage = runtime?.stage ?? (repo.platformId ? "STOPPED" : "NO_APP_FILE");
  const isService = readSpaceConfig(repo).kind === "service" && repo.platformId === null;
  return {
    stage,
    hardware: { current: isService && stage === "RUNNING" ? SPACE_FLAVOR : null, requested: isService ? SPACE_FLAVOR : null },
    storage: null,
    gcTimeout: isService ? (runtime?.sleepSeconds ?? SLEEP_AFTER_SECONDS) : null,
    ...(runtime?.commit && { sha: runtime.commit }),
    ...(runtime?.message && { errorMessage: runtime.message }),
    domains: repo.platformId ? [] : [{ domain: appUrl(repo).replace(/^https?:\/\/|\/$/g, ""), stage: "READY" }],
  };
}
