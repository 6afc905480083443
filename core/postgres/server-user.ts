import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { existsSync, readFileSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { SettingsError } from "../env.ts";

type Identity = { uid: number; gid: number };

export type ServerUser = {
  owner: Identity | undefined;
  spawn(command: string, args: string[], options: SpawnOptions): ChildProcess;
};

/** Contains none of the service's settings and secrets. */
const environment: Partial<NodeJS.ProcessEnv> = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
const clean: SpawnOptions = { cwd: "/", env: environment as NodeJS.ProcessEnv };

/**
 * PostgreSQL refuses to run as root, so another user runs it. With CAP_DAC_OVERRIDE, this user can read a checkout below root's
 * own directory.
 * @param programs files that the user must be able to read
 * @param dataDir a directory that the user must be able to traverse
 */
export function findServerUser(programs: string[], dataDir: string, cluster?: string): ServerUser {
  const owner = cluster === undefined ? undefined : statSync(cluster);
  if (process.getuid?.() !== 0) {
    if (owner && process.getuid && owner.uid !== process.getuid())
      throw new SettingsError(
        `${cluster} belongs to another user (uid ${owner.uid}); start the service as that user or as root.`,
      );
    return { owner: undefined, spawn: (command, args, options) => spawn(command, args, { ...clean, ...options }) };
  }
  const identity = owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : (findUser("postgres") ?? findUser("nobody"));
  if (!identity)
    throw new SettingsError(
      "PostgreSQL cannot run as root, and there is no user postgres or nobody. Start the service as another user.",
    );

  const unreachable = canEnter(identity, dataDir) ? programs.find((path) => !canRead(identity, path)) : dataDir;
  if (unreachable === undefined)
    return { owner: identity, spawn: (command, args, options) => spawn(command, args, { ...clean, ...options, ...identity }) };

  const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => existsSync(path));
  if (!setpriv)
    throw new SettingsError(
      `PostgreSQL cannot run as root, and uid ${identity.uid} cannot access ${unreachable}. ` +
        "Start the service as another user, or install setpriv (util-linux), or move the checkout, or set DATABASE_URL.",
    );
  return {
    owner: identity,
    spawn: (command, args, options) => spawn(setpriv, [...privileges(identity), command, ...args], { ...clean, ...options }),
  };
}

function privileges({ uid, gid }: Identity): string[] {
  return [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    "--clear-groups",
    // Without this bit, access(2) ignores the capabilities of a user who is not root.
    "--securebits=+no_setuid_fixup",
    "--inh-caps=-all,+dac_override",
    "--ambient-caps=+dac_override",
    "--bounding-set=-all,+dac_override",
  ];
}

function findUser(name: string): Identity | undefined {
  for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
    const [user, , uid, gid] = line.split(":");
    if (user === name) return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}

const READ = 4;
const ENTER = 1;

function canRead(identity: Identity, path: string): boolean {
  return may(identity, statSync(path), READ) && canEnter(identity, dirname(path));
}

function canEnter(identity: Identity, directory: string): boolean {
  for (let at = directory; ; at = dirname(at)) {
    if (!may(identity, statSync(at), ENTER)) return false;
    if (at === dirname(at)) return true;
  }
}

function may({ uid, gid }: Identity, stats: Stats, wanted: number): boolean {
  const shift = stats.uid === uid ? 6 : stats.gid === gid ? 3 : 0;
  return ((stats.mode >> shift) & wanted) === wanted;
}
