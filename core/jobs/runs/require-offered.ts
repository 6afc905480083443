import type { JobSpec } from "@keyhook/sdk";
import { env } from "../../env.ts";
import { ServiceError } from "../../errors.ts";
import { findFlavor, flavors } from "../flavors.ts";

/** Limits of what a process is started with, far below the kernel's (S138). */
const TEXT_MAX_BYTES = 512 * 1024;

/**
 * Refuses what this installation could never run, at once instead of in a run's log.
 * @throws ServiceError `invalid_request`
 */
export function requireOffered(spec: JobSpec, secrets: Readonly<Record<string, string>> = {}): void {
  if (Boolean(spec.dockerImage) === Boolean(spec.spaceId))
    throw new ServiceError("invalid_request", "Name either an image or a Space.", { field: "dockerImage" });
  if (!findFlavor(spec.flavor)) {
    const offered = flavors().map(({ name }) => name);
    throw new ServiceError("invalid_request", `There is no flavor ${spec.flavor} here. Choose ${offered.join(", ")}.`, {
      field: "flavor",
    });
  }
  if (spec.network && env().JOBS_NETWORK !== "1") {
    const sentence = "Jobs have no network on this installation; its operator decides (JOBS_NETWORK).";
    throw new ServiceError("invalid_request", sentence, { field: "network" });
  }
  const size = Buffer.byteLength(JSON.stringify([spec.command, spec.arguments, spec.environment, secrets]));
  if (size > TEXT_MAX_BYTES) {
    const sentence = `Command, environment and secrets are ${size} bytes together, of at most ${TEXT_MAX_BYTES}. Put what is large into a Space's files.`;
    throw new ServiceError("invalid_request", sentence, { field: "environment" });
  }
}
