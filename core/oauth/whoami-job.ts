import type { RepoType, WhoamiJob } from "@keyhook/sdk";
import { avatarUrl } from "#core/accounts/avatar-url.ts";
import { isPresetName } from "#core/accounts/publishers/presets.ts";
import { publisherName } from "#core/accounts/publishers/publisher-name.ts";
import type { Job } from "./find-job.ts";

/** The body of `GET /api/whoami-v2` for a CI job's token: the fields that existing clients read, of a repository. */
export function whoamiJob({ publisherId, preset, repo, expiresAt }: Job): WhoamiJob {
  const [owner = ""] = repo.fullName.split("/");
  return {
    type: "publisher",
    id: publisherId,
    name: repo.fullName,
    fullname: publisherName(isPresetName(preset) ? preset : "oidc"),
    periodEnd: null,
    isPro: false,
    avatarUrl: avatarUrl(owner),
    orgs: [],
    auth: {
      type: "ci_token",
      resource: { sub: repo.id, type: repo.type as RepoType, name: repo.fullName },
      expiresAt: expiresAt.toISOString(),
    },
  };
}
