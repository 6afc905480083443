import { ServiceError } from "#core/errors.ts";
import { openApiRoutes } from "../open-api.ts";

/**
 * Things of the public hub, other than repositories, that this service does not have: it says so explicitly
 * (docs/specification/repositories-and-git.md#what-is-not-offered).
 */
export const elsewhereRoutes = openApiRoutes();

for (const kind of ["buckets", "kernels", "endpoints"]) {
  for (const path of [`/api/${kind}`, `/api/${kind}/*`]) {
    elsewhereRoutes.all(path, () => {
      throw new ServiceError("invalid_request", `This service has no ${kind}. Use a model, a dataset or a space.`);
    });
  }
}
