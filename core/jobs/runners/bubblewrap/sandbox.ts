import { constants } from "node:fs";
import { access, chmod, chown, copyFile, lstat, mkdir, readdir, readlink, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { env } from "../../../env.ts";
import { sourcePath } from "../../../source-path.ts";
import { type EgressProxy, openEgressProxy, PROXY_PORT, proxyVariables } from "../egress-proxy.ts";
import { PAYLOAD_FILE, SOCKET_DIRECTORY, type Task, WORKING_DIRECTORY } from "../runner.ts";
import { makeTaskDirectory } from "../task-directory.ts";
import { PATH, TOOLS_DIRECTORY, toolLinks } from "./host-programs.ts";
import { leaseUid, type UidLease } from "./lease-uid.ts";

/** None of these directories may contain secrets. */
const SYSTEM = ["bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "share", "include", "local"];
/** None of these files may contain passwords, keys, or names of hosts in this network. */
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

const USER = 1000;

export const START_SCRIPT = "/run/start";

const SHARED_MEMORY_MAX_BYTES = 64 * 1024 ** 2;

export type Sandbox = {
  /** Undefined if the service does not run as root. Then bwrap creates a user namespace. */
  uid: number | undefined;
  writable: readonly string[];
  arguments: string[];
  /** Call this when the sandbox has opened the files, so that no secret outlives a killed process. */
  forget(): Promise<void>;
  remove(): Promise<void>;
};

export async function prepareSandbox(task: Task): Promise<Sandbox> {
  const directory = await makeTaskDirectory("run", task.id);
  let lease: UidLease | undefined;
  let proxy: EgressProxy | undefined;
  const remove = async () => {
    proxy?.close();
    await rm(directory, { recursive: true, force: true });
    lease?.release();
  };
  try {
    if (process.getuid?.() === 0) lease = await leaseUid();
    const uid = lease?.uid;
    if (task.network) proxy = await openNetwork(task, directory);
    await writeEtc(directory);
    await writeFile(join(directory, "start"), startScript(task));
    if (task.payload !== undefined) await writeFile(join(directory, "payload.json"), task.payload);
    if (uid !== undefined) {
      await chown(directory, uid, uid);
      if (task.filesDirectory) await chown(task.filesDirectory, uid, uid);
      if (task.socketDirectory) await allowGroupToEnter(dirname(task.socketDirectory), uid);
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

/** Only this group may enter, because anyone who reaches a Space's socket can pose as the app. */
async function allowGroupToEnter(path: string, gid: number): Promise<void> {
  await chown(path, process.getuid?.() ?? 0, gid);
  await chmod(path, 0o710);
}

const NETWORK = "network";
const NETWORK_DIRECTORY = "/run/network";
const FORWARDER = `${NETWORK_DIRECTORY}/forwarder.mjs`;

async function openNetwork(task: Task, directory: string): Promise<EgressProxy> {
  const network = join(directory, NETWORK);
  await mkdir(network, { mode: 0o755 });
  await copyFile(sourcePath("core/jobs/runners/bubblewrap/forwarder.mjs"), join(network, "forwarder.mjs"));
  return openEgressProxy(task, join(network, "way-out.sock"));
}

/** The script is in a file, because every user of this machine can read command lines. */
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
  // The forwarder starts before the environment is set, and is not a child of the command.
  const forwarder = `(exec node ${FORWARDER} ${NETWORK_DIRECTORY}/way-out.sock ${PROXY_PORT} >/tmp/.ready &) && read -r ready </tmp/.ready; rm /tmp/.ready\n`;
  return `${network ? `export PATH='${PATH}'\nmkfifo /tmp/.ready\n${forwarder}` : ""}${lines.join("")}exec "$@"\n`;
}

const writableBy = ({ filesDirectory }: Task): string[] => ["/tmp", "/dev/shm", ...(filesDirectory ? [] : [WORKING_DIRECTORY])];

async function sandboxArguments(task: Task, directory: string): Promise<string[]> {
  const { scratchBytes } = task.limits;
  const shared = Math.min(SHARED_MEMORY_MAX_BYTES, Math.floor(scratchBytes / 4));
  const each = String(Math.floor((scratchBytes - shared) / (task.filesDirectory ? 1 : 2)));
  return [
    // The job has no network of its own. It reaches other hosts only through a socket.
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
    // bwrap's own root and /dev are made read-only, because their size is not limited.
    ...["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORKING_DIRECTORY],
  ];
}

/** The command must not see this service or its data, even if they are in /usr. */
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

function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}
