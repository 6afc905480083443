import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const TOOLS = [
  "sh",
  "cat",
  "dd",
  "echo",
  "head",
  "id",
  "ip",
  "kill",
  "ls",
  "nc",
  "ps",
  "seq",
  "sleep",
  "tail",
  "tar",
  "touch",
  "true",
  "wget",
  "wc",
];

export async function startPodman(hub: string) {
  const directory = mkdtempSync(join(tmpdir(), "kh-podman-"));
  const socketPath = join(directory, "podman.sock");
  const registries = join(directory, "registries.conf");
  const mirrored = `[[registry]]\nprefix = "docker.io"\nlocation = "${hub}"\ninsecure = true\n`;
  writeFileSync(registries, `${mirrored}[[registry]]\nlocation = "${hub}"\ninsecure = true\n`);
  const storage = ["--root", join(directory, "root"), "--runroot", join(directory, "run"), "--tmpdir", join(directory, "tmp")];
  const options = [...storage, "--runtime", "runc", "--cgroup-manager", "cgroupfs"];
  // With locks in files, the Podman instances of one user share no locks in memory.
  const settings = join(directory, "containers.conf");
  writeFileSync(settings, '[engine]\nlock_type = "file"\n');
  const environment = {
    PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: directory,
    CONTAINERS_CONF: settings,
    CONTAINERS_REGISTRIES_CONF: registries,
  };
  const given = { env: environment as Record<string, string> as NodeJS.ProcessEnv, cwd: directory };
  // Podman must not run synchronously, because the registry is in this process.
  const podman = async (...words: string[]): Promise<string> =>
    (await promisify(execFile)("podman", [...options, ...words], given)).stdout;
  const lines = (text: string): string[] => text.split("\n").filter(Boolean);
  const serve = () =>
    spawn("podman", [...options, "system", "service", "--time=0", `unix://${socketPath}`], { ...given, stdio: "ignore" });

  const service = serve();
  for (let tries = 0; !existsSync(socketPath); tries++) {
    if (tries > 200 || service.exitCode !== null) throw new Error("podman does not serve its API here");
    await sleep(50);
  }

  return {
    directory,
    socketPath,
    podman,
    containers: async () => lines(await podman("ps", "--all", "--quiet", "--external")),
    volumes: async () => lines(await podman("volume", "ls", "--quiet")),
    images: async () => lines(await podman("images", "--format", "{{.Repository}}")),
    stopService() {
      service.kill("SIGKILL");
      rmSync(socketPath, { force: true });
    },
    stop() {
      service.kill("SIGKILL");
      spawnSync("podman", [...options, "rm", "--all", "--force", "--volumes", "--time", "0"], {
        ...given,
        stdio: "ignore",
        timeout: 20_000,
      });
      // Podman may bind-mount these directories onto themselves, and mounted directories cannot be removed.
      for (const path of ["root/overlay", "root", "run"])
        spawnSync("umount", ["--lazy", join(directory, path)], { stdio: "ignore" });
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function busyboxFiles(directory: string): string {
  for (const path of ["bin", "etc", "tmp"]) mkdirSync(join(directory, path), { recursive: true });
  chmodSync(join(directory, "tmp"), 0o1777);
  copyFileSync("/bin/busybox", join(directory, "bin/busybox"));
  for (const name of TOOLS) symlinkSync("busybox", join(directory, "bin", name));
  return directory;
}

export function nodeFiles(directory: string): string {
  busyboxFiles(directory);
  const copy = (from: string, to: string) => {
    mkdirSync(dirname(join(directory, to)), { recursive: true });
    copyFileSync(from, join(directory, to));
  };
  copy(process.execPath, "bin/node");
  const libraries = execFileSync("ldd", [process.execPath], { encoding: "utf8" }).matchAll(/(\/\S+) \(0x/g);
  for (const [, path = ""] of libraries) copy(path, path);
  return directory;
}
