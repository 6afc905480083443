import { constants } from "node:fs";
import { access, chmod, chown, copyFile, lstat, mkdir, readdir, readlink, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { env } from "../../../env.ts";
import { sourcePath } from "../../../source-path.ts";
import { openWayOut, PROXY_PORT, proxyVariables, type WayOut } from "../../network/way-out.ts";
import { PAYLOAD_FILE, SOCKET_DIRECTORY, type Task, WORKING_DIRECTORY } from "../runner.ts";
import { makeTaskDirectory } from "../task-directory.ts";
import { PATH, TOOLS_DIRECTORY, toolLinks } from "./host-programs.ts";
import { leaseUid, type UidLease } from "./lease-uid.ts";

/** Of a system's own: programs and what they need. Nothing here is a secret, and all of it is read-only. */
const SYSTEM = ["bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "share", "include", "local"];
/** What programs look up in /etc. Not among it: passwords, keys, the names of this network. */
const CONFIGURATION = [
  "alternatives",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "mime.types",
  "protocols",
  "services",
  "ssl/certs",
  "ssl/openssl.cnf",
  "pki/tls/certs",
  "pki/ca-trust/extracted",
  "ca-certificates",
];

/** Who a command believes to be. */
const USER = 1000;

/** Where the sandbox has the script that `launch` ends with. */
export const START_SCRIPT = "/run/start";

/** Of what a command may write, this part lies in /dev/shm: programs put semaphores and what their processes share there. */
const SHARED_MEMORY_MAX_BYTES = 64 * 1024 ** 2;

export type Sandbox = {
  /**
   * Of the bwrap process, where the service runs as root: no task is root, and none has the user of another (`leaseUid`). Undefined: the
   * service's own, in a namespace of users for each task.
   */
  uid: number | undefined;
  /** Where the command can write, all of it in memory. */
  writable: readonly string[];
  /** What bwrap is started with, but for the command. */
  arguments: string[];
  /** Once it is made: takes away what it was made of, which it keeps, so that no secret stays behind on disk if this process is killed. */
  forget(): Promise<void>;
  remove(): Promise<void>;
};

/** Prepares what a task's sandbox is made of: a directory of its own for what is mounted from it, and bwrap's arguments. */
export async function prepareSandbox(task: Task): Promise<Sandbox> {
  const directory = await makeTaskDirectory("run", task.id);
  let lease: UidLease | undefined;
  let wayOut: WayOut | undefined;
  const remove = async () => {
    wayOut?.close();
    await rm(directory, { recursive: true, force: true });
    lease?.release();
  };
  try {
    if (process.getuid?.() === 0) lease = await leaseUid();
    const uid = lease?.uid;
    if (task.network) wayOut = await openNetwork(task, directory);
    await writeEtc(directory);
    await writeFile(join(directory, "start"), startScript(task));
    if (task.payload !== undefined) await writeFile(join(directory, "payload.json"), task.payload);
    if (uid !== undefined) {
      await chown(directory, uid, uid);
      if (task.filesDirectory) await chown(task.filesDirectory, uid, uid);
      if (task.socketDirectory) await letThrough(dirname(task.socketDirectory), uid);
    }
    await chmod(directory, 0o700);
    const forget = async () => {
      const names = (await readdir(directory)).filter((name) => name !== NETWORK);
      await Promise.all(names.map((name) => rm(join(directory, name), { force: true })));
    };
    return { uid, writable: writableBy(task), arguments: await sandboxArguments(task, directory), forget, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Whoever reaches a Space's socket can pass for its app: the sandbox's group may enter the directory around it, nobody else. */
async function letThrough(path: string, gid: number): Promise<void> {
  await chown(path, process.getuid?.() ?? 0, gid);
  await chmod(path, 0o710);
}

/** Where the sandbox finds what leads out of it, and the port of its loopback at which programs find that. */
const NETWORK = "network";
const NETWORK_DIRECTORY = "/run/network";
const RELAY = `${NETWORK_DIRECTORY}/relay.mjs`;

/** For a task that may reach the network: the socket that leads out, beside the relay that programs reach it through. */
async function openNetwork(task: Task, directory: string): Promise<WayOut> {
  const network = join(directory, NETWORK);
  await mkdir(network, { mode: 0o755 });
  await copyFile(sourcePath("core/jobs/runners/bubblewrap/relay.mjs"), join(network, "relay.mjs"));
  return openWayOut(task, join(network, "way-out.sock"));
}

/**
 * Gives a command its environment and becomes it. A file, since what is on a command line every user of this machine can read, and what
 * is in an environment every program that it starts obeys.
 */
function startScript({ environment, payload, network }: Task): string {
  const variables = {
    PATH,
    HOME: "/tmp",
    TMPDIR: "/tmp",
    LANG: "C.UTF-8",
    ...(network && proxyVariables),
    ...environment,
    ...(payload !== undefined && { WEBHOOK_PAYLOAD_FILE: PAYLOAD_FILE }),
  };
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`);
  // Before the environment, and no child of the command's own.
  const relay = `(exec node ${RELAY} ${NETWORK_DIRECTORY}/way-out.sock ${PROXY_PORT} >/tmp/.ready &) && read -r ready </tmp/.ready; rm /tmp/.ready\n`;
  return `${network ? `export PATH='${PATH}'\nmkfifo /tmp/.ready\n${relay}` : ""}${lines.join("")}exec "$@"\n`;
}

const writableBy = ({ filesDirectory }: Task): string[] => ["/tmp", "/dev/shm", ...(filesDirectory ? [] : [WORKING_DIRECTORY])];

async function sandboxArguments(task: Task, directory: string): Promise<string[]> {
  const { scratchBytes } = task.limits;
  const shared = Math.min(SHARED_MEMORY_MAX_BYTES, Math.floor(scratchBytes / 4));
  const each = String(Math.floor((scratchBytes - shared) / (task.filesDirectory ? 1 : 2)));
  return [
    // The network too: what a job may reach it reaches through a socket (core/jobs/network/way-out.ts).
    ...["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--clearenv"],
    ...["--cap-drop", "ALL", "--uid", String(USER), "--gid", String(USER), "--hostname", "job"],
    ...(await systemDirectories()),
    ...(await etcArguments(directory)),
    ...["--proc", "/proc", "--dev", "/dev", "--size", String(shared), "--tmpfs", "/dev/shm"],
    ...["--perms", "1777", "--size", each, "--tmpfs", "/tmp"],
    ...(await toolArguments()),
    ...(task.filesDirectory
      ? ["--ro-bind", task.filesDirectory, WORKING_DIRECTORY]
      : ["--size", each, "--tmpfs", WORKING_DIRECTORY]),
    ...["--ro-bind", join(directory, "start"), START_SCRIPT],
    ...(task.payload === undefined ? [] : ["--ro-bind", join(directory, "payload.json"), PAYLOAD_FILE]),
    ...(task.network ? ["--ro-bind", join(directory, NETWORK), NETWORK_DIRECTORY] : []),
    ...(task.socketDirectory ? ["--ro-bind", task.socketDirectory, SOCKET_DIRECTORY] : []),
    // bwrap's own root and /dev are in memory, without any bound.
    ...["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORKING_DIRECTORY],
  ];
}

/** /usr and what leads to it. Where this service or its data lie in there, the command finds an empty directory in their place. */
async function systemDirectories(): Promise<string[]> {
  const bound: string[] = [];
  const mounts: string[] = [];
  for (const name of SYSTEM) {
    const path = `/usr/${name}`;
    if (await exists(path)) {
      mounts.push("--ro-bind", path, path);
      bound.push(path);
    }
  }
  for (const name of SYSTEM) {
    const path = `/${name}`;
    const found = await lstat(path).catch(() => undefined);
    if (found?.isSymbolicLink()) mounts.push("--symlink", await readlink(path), path);
    else if (found?.isDirectory() && name !== "share" && name !== "local") {
      mounts.push("--ro-bind", path, path);
      bound.push(path);
    }
  }
  const ours = [env().DATA_DIR, process.cwd()].filter((path) => bound.some((root) => path.startsWith(root + sep)));
  return [...mounts, ...ours.flatMap((path) => ["--tmpfs", path, "--remount-ro", path])];
}

async function etcArguments(directory: string): Promise<string[]> {
  const kept: string[] = [];
  for (const name of CONFIGURATION) if (await exists(`/etc/${name}`)) kept.push("--ro-bind", `/etc/${name}`, `/etc/${name}`);
  const written = (await readdir(directory)).filter((name) => name.startsWith("etc-"));
  return [...kept, ...written.flatMap((name) => ["--ro-bind", join(directory, name), `/etc/${name.slice("etc-".length)}`])];
}

async function writeEtc(directory: string): Promise<void> {
  const files = {
    passwd: `job:x:${USER}:${USER}::/tmp:/bin/sh\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n`,
    group: `job:x:${USER}:\nnogroup:x:65534:\n`,
    hosts: "127.0.0.1 localhost job\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "resolv.conf": "",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, `etc-${name}`), text);
}

/** This service's own Node, and the names by which images have what this machine has. */
async function toolArguments(): Promise<string[]> {
  const links = Object.entries(await toolLinks()).flatMap(([name, target]) => ["--symlink", target, join(TOOLS_DIRECTORY, name)]);
  const node = (await isReadableByOthers(process.execPath)) || process.getuid?.() !== 0 ? process.execPath : undefined;
  return node ? [...links, "--ro-bind", node, join(TOOLS_DIRECTORY, "node")] : links;
}

async function isReadableByOthers(path: string): Promise<boolean> {
  if (((await stat(path)).mode & 0o005) !== 0o005) return false;
  for (let at = dirname(path); ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

export function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}
