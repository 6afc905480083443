import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { killNow } from "./nodes.ts";

export type Mount = { path: string; options: string; client?: ChildProcess };

type Server = { command: string; args: string[]; process?: ChildProcess };

export type MooseFs = Awaited<ReturnType<typeof startMooseFs>>;

const ADDRESS = "10.77.0.1";
const PATIENCE_MS = 60_000;

/** The servers refuse loopback addresses, so they run in a network namespace whose loopback device has another address. */
export async function startMooseFs(directory: string) {
  if (process.getuid?.() !== 0) throw new Error("Run this as root: it makes a network namespace and mounts a file system.");
  execFileSync(process.execPath, ["scripts/setup.mjs", "--programs", "--filesystem"], { stdio: "inherit" });
  // The servers run as root, so they can read the folders that they get here.
  mkdirSync(directory);
  chmodSync(directory, 0o755);
  const mounts: Mount[] = [];
  const servers: Server[] = [];
  const holder = spawn(
    "/usr/bin/unshare",
    ["--net", "sh", "-c", `ip link set lo up && ip address add ${ADDRESS}/32 dev lo && echo up && exec sleep infinity`],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const stop = () => {
    for (const { path } of mounts) unmount(path);
    for (const child of [...mounts.map(({ client }) => client), ...servers.map((server) => server.process), holder])
      if (child?.pid && child.exitCode === null) killNow(child.pid);
  };
  process.prependOnceListener("exit", stop);
  await once(holder.stdout, "data");
  const inside = (command: string, args: string[]): ChildProcess =>
    spawn("/usr/bin/nsenter", [`--net=/proc/${holder.pid}/ns/net`, command, ...args], { stdio: "ignore" });

  const settings = (name: string, more: Record<string, string>): string => {
    const path = join(directory, name);
    mkdirSync(path);
    const all = { DATA_PATH: path, WORKING_USER: "root", WORKING_GROUP: "root", NICE_LEVEL: "0", ...more };
    writeFileSync(
      `${path}.cfg`,
      Object.entries(all)
        .map((pair) => `${pair.join(" = ")}\n`)
        .join(""),
    );
    return `${path}.cfg`;
  };
  const start = (server: Server) => {
    server.process = inside(server.command, server.args);
  };

  const exports = join(directory, "exports");
  writeFileSync(exports, "* / rw,alldirs,maproot=0:0\n");
  const masterSettings = settings("master", { EXPORTS_FILENAME: exports, CHANGELOG_SAVE_MODE: "2" });
  copyFileSync("/var/lib/mfs/metadata.mfs.empty", join(directory, "master/metadata.mfs"));
  const master: Server = { command: "/usr/sbin/mfsmaster", args: ["-f", "-a", "-c", masterSettings] };
  const chunkServers = ["first", "second"].map((name, index): Server => {
    const disk = join(directory, `${name}-disk`);
    mkdirSync(disk);
    writeFileSync(join(directory, `${name}.hdd`), `${disk}\n`);
    const file = settings(name, {
      ...{ MASTER_HOST: ADDRESS, BIND_HOST: ADDRESS, CSSERV_LISTEN_HOST: ADDRESS, CSSERV_LISTEN_PORT: `${9422 + index}` },
      ...{ HDD_CONF_FILENAME: join(directory, `${name}.hdd`), HDD_FSYNC_BEFORE_CLOSE: "1" },
    });
    return { command: "/usr/sbin/mfschunkserver", args: ["-f", "-c", file] };
  });
  servers.push(master, ...chunkServers);
  for (const server of servers) start(server);

  async function mount(each: Mount): Promise<void> {
    const options = `mfsnice=0,mfsdelayedinit,${each.options}`;
    each.client = inside("/usr/bin/mfsmount", ["-f", each.path, "-H", ADDRESS, "-o", options]);
    const parent = statSync(directory).dev;
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await delay(100)) {
      try {
        if (statSync(each.path).dev === parent) continue;
        writeFileSync(join(each.path, `.of-${each.client.pid}`), "written", { flush: true });
        return;
      } catch {} // no master or chunk server yet
    }
    throw new Error(`the file system was not mounted at ${each.path}`);
  }

  return {
    master,
    chunkServers,
    start,
    mount,
    async add(name: string, options: string): Promise<Mount> {
      const each: Mount = { path: join(directory, name), options };
      mkdirSync(each.path);
      mounts.push(each);
      await mount(each);
      return each;
    },
    lose({ path, client }: Mount): void {
      if (client?.pid) killNow(client.pid);
      unmount(path);
    },
    pids: (): number[] =>
      [...servers.map((server) => server.process), ...mounts.map(({ client }) => client)].flatMap((each) => each?.pid ?? []),
  };
}

function unmount(path: string): void {
  try {
    execFileSync("/usr/bin/umount", ["--lazy", path], { stdio: "ignore" });
  } catch {} // the file system is not mounted
}
