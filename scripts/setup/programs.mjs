import { existsSync } from "node:fs";
import { run, SetupFailed, works } from "./run.mjs";

const forGit = {
  git: () => works("git"),
  "git-lfs": () => works("git-lfs", ["version"]),
};

/** Debian installs PgBouncer in a folder that is not in every user's PATH. */
const forDatabase = { pgbouncer: () => works("pgbouncer") || works("/usr/sbin/pgbouncer") };

/** Podman represents all container engines. The images of the tests contain BusyBox. Restic stores backups. */
const forJobs = {
  bubblewrap: () => works("bwrap"),
  podman: () => works("podman"),
  runc: () => works("runc"),
  catatonit: () => works("catatonit") || works("/usr/libexec/podman/catatonit"),
  "busybox-static": () => works("busybox", ["true"]),
  restic: () => works("restic", ["version"]),
};

const forNodes = { haproxy: () => works("/usr/sbin/haproxy", ["-v"]) };

const forFilesystem = {
  "moosefs-master": () => works("/usr/sbin/mfsmaster", ["-v"]),
  "moosefs-chunkserver": () => works("/usr/sbin/mfschunkserver", ["-v"]),
  "moosefs-client": () => existsSync("/usr/bin/mfsmount"),
  iproute2: () => works("ip", ["-V"]),
};

const forFailover = {
  ...forNodes,
  patroni: () => works("patroni"),
  "etcd-server": () => works("etcd"),
  postgresql: () => existsSync("/usr/lib/postgresql"),
};

/** The distribution's git only recommends ca-certificates, which git needs to fetch over https. */
export const provideGit = (step) => provide(step, forGit, ["ca-certificates"]);

/** Only the tests require these programs. Without them, a service refuses jobs and backups, and says why. */
export const provideJobPrograms = (step) => provide(step, forJobs);

export const provideDatabasePrograms = (step) => provide(step, forDatabase);

export const provideFailoverPrograms = (step) => provide(step, forFailover);

export const provideNodePrograms = (step) => provide(step, forNodes);

export const provideFilesystemPrograms = (step) => provide(step, forFilesystem);

async function provide(step, programs, alsoInstalled = []) {
  const missing = () => Object.keys(programs).filter((name) => !programs[name]());
  const names = missing();
  if (names.length === 0) return;
  const install = aptInstaller();
  let problem = "";
  if (install) {
    try {
      await step(`installing ${names.join(", ")} (apt-get install ${names.join(" ")})`, () =>
        install(...names, ...alsoInstalled),
      );
    } catch (error) {
      problem = error.message;
    }
  }
  const stillMissing = missing();
  if (stillMissing.length === 0) return;
  const sentence = `these programs are missing and cannot be installed here: ${stillMissing.join(", ")}. Install them yourself.`;
  throw new SetupFailed([sentence, problem].filter(Boolean).join("\n"));
}

/**
 * Returns undefined on a machine without apt-get. The installer never asks for a password, and fails if sudo requires one.
 * @returns {((...packages: string[]) => Promise<void>) | undefined}
 */
export function aptInstaller() {
  if (!works("apt-get")) return undefined;
  const isRoot = process.getuid?.() === 0;
  const environment = { DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args) => (isRoot ? run("apt-get", args, environment) : run("sudo", ["-n", "apt-get", ...args], environment));
  return async (...packages) => {
    await apt("update");
    await apt("install", "-y", "--no-install-recommends", ...packages);
  };
}
