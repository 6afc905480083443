import { env } from "../../env.ts";
import { log } from "../../log.ts";
import { bubblewrap } from "./bubblewrap/bubblewrap.ts";
import { probe } from "./probe.ts";
import type { Runner } from "./runner.ts";

/** Why no job can run: a sentence for the user who wants to run one, which says what the operator has to do. */
export type NoRunner = { refusal: string };

let found: Promise<Runner | NoRunner> | undefined;

/** The installation's runner (JOBS_RUNNER), looked for once. If none is found, the next call looks again. */
export async function findRunner(): Promise<Runner | NoRunner> {
  found ??= look().catch((error: unknown) => {
    found = undefined;
    throw error;
  });
  const runner = await found;
  if ("refusal" in runner) found = undefined;
  return runner;
}

async function look(): Promise<Runner | NoRunner> {
  switch (env().JOBS_RUNNER) {
    case "off":
      return { refusal: "This installation runs no jobs. Its operator can let it, with JOBS_RUNNER." };
    case "docker":
      return (await import("./docker/docker.ts")).docker;
    case "kubernetes":
      return (await import("./kubernetes/kubernetes.ts")).kubernetes;
    case "unsandboxed":
      return (await import("./unsandboxed.ts")).unsandboxed;
    default:
      return (await whyNot()) ?? bubblewrap;
  }
}

async function whyNot(): Promise<NoRunner | undefined> {
  const reason = await probe(bubblewrap);
  if (reason === undefined) return undefined;
  log().warn({ reason }, "jobs cannot be isolated on this machine and are refused");
  return {
    refusal: `This machine cannot isolate jobs: ${reason} Its operator can install bubblewrap (apt-get install bubblewrap) and allow user namespaces, or set JOBS_RUNNER=docker or kubernetes.`,
  };
}
