import { run, works } from "./run.mjs";

/**
 * What installs packages of the distribution, where that can be done without asking for a password; undefined elsewhere.
 * @returns {((...packages: string[]) => void) | undefined}
 */
export function aptInstaller() {
  if (!works("apt-get")) return undefined;
  const isRoot = process.getuid?.() === 0;
  const environment = { DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args) => (isRoot ? run("apt-get", args, environment) : run("sudo", ["-n", "apt-get", ...args], environment));
  return (...packages) => {
    apt("update");
    apt("install", "-y", "--no-install-recommends", ...packages);
  };
}
