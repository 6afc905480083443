import { env } from "../../env.ts";
import type { Repo } from "../../hub/repos/repo.ts";
import { appPath, appUrl } from "../app-address.ts";
import type { ServiceConfig } from "../space-config.ts";

/** An app's environment besides its own variables (docs/specification/jobs-and-spaces.md#spaces). */
export function spaceEnvironment(repo: Repo, { port }: Pick<ServiceConfig, "port">): Record<string, string> {
  return {
    PORT: String(port),
    HOST: "127.0.0.1",
    NODE_ENV: "production",
    SPACE_ID: repo.fullName,
    SPACE_AUTHOR_NAME: repo.owner.handle,
    SPACE_REPO_NAME: repo.name,
    // Without scheme and trailing slash: libraries prepend `https://` and append a path.
    SPACE_HOST: new URL(env().ORIGIN).host + appPath(repo).replace(/\/$/, ""),
    SPACE_URL: appUrl(repo),
    SPACE_BASE_PATH: appPath(repo),
    OPENID_PROVIDER_URL: env().ORIGIN,
  };
}
