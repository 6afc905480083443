import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { createUser } from "#core/accounts/users/create-user.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { openInstance } from "#core/instance/open-instance.ts";
import { startService, stopService } from "#core/testing/running-service.ts";
import { cpuSeconds } from "./cost.ts";

/** `node bench/xet.ts PYTHON [MEBIBYTES] [ROUNDS]`: the public hub's client uploads files, alternately by Git LFS and Xet. */
const [python = "python3", mebibytes = "1024", rounds = "3"] = process.argv.slice(2);
const MIB = 1024 * 1024;
const AIM = 0.8;

const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), "keyhook-bench-xet-"));
const settings = { DATA_DIR: join(directory, "data"), TOKEN_PREFIX: "hf_", LOG_LEVEL: "error", LFS_MAX_OBJECT_MB: "50000" };
const running = await startService(settings);
process.once("exit", () => running.process.kill("SIGTERM"));
provideSettings({ ...settings, ORIGIN: running.origin });
const instance = await openInstance();
try {
  const person = { username: "mara", email: "mara@example.test", password: "a lantern over the quay" };
  const { id } = await createUser(operatorCommand, person, noOrigin);
  const input = { name: "bench", scopes: ["manage-repos" as const], expiresInDays: null };
  const { token } = await createPersonalAccessToken(operatorCommand, id, input, noOrigin);

  const SCRIPT = `import sys, time, resource
from huggingface_hub import HfApi
api = HfApi()
api.create_repo(sys.argv[1], exist_ok=True)
began = time.time()
api.upload_file(path_or_fileobj=sys.argv[2], path_in_repo="tide.bin", repo_id=sys.argv[1])
used = resource.getrusage(resource.RUSAGE_SELF)
print(time.time() - began, used.ru_utime + used.ru_stime)`;

  async function upload(repo: string, path: string, { isXet, home = repo }: { isXet: boolean; home?: string }) {
    const env = {
      ...{ PATH: process.env.PATH ?? "", HF_ENDPOINT: running.origin, HF_TOKEN: token, HF_HOME: join(directory, "homes", home) },
      ...{ HF_HUB_DISABLE_PROGRESS_BARS: "1", ...(isXet ? {} : { HF_HUB_DISABLE_XET: "1" }) },
    };
    const pid = running.pidOf("server.ts");
    const before = cpuSeconds(pid);
    const { stdout } = await run(python, ["-c", SCRIPT, `mara/${repo}`, path], {
      env: env as Record<string, string> as NodeJS.ProcessEnv,
    });
    const [seconds = 0, clientCpu = 0] = stdout.trim().split(" ").map(Number);
    return { seconds, clientCpu, serverCpu: cpuSeconds(pid) - before };
  }

  console.log(`${mebibytes} MiB | seconds by Git LFS | by Xet | ratio | CPU of client and web process, Git LFS | Xet`);
  const ratios: number[] = [];
  const path = join(directory, "tide.bin");
  for (let round = 1; round <= Number(rounds); round++) {
    await writeRandom(path, Number(mebibytes) * MIB);
    const lfs = await upload(`lfs-${round}`, path, { isXet: false });
    await settle();
    const xet = await upload(`xet-${round}`, path, { isXet: true });
    await settle();
    ratios.push(lfs.seconds / xet.seconds);
    const cpu = ({ clientCpu, serverCpu }: typeof lfs) => `${clientCpu.toFixed(1)} s, ${serverCpu.toFixed(1)} s`;
    const took = `${lfs.seconds.toFixed(1)} | ${xet.seconds.toFixed(1)} | ${(lfs.seconds / xet.seconds).toFixed(2)}`;
    console.log(`round ${round} | ${took} | ${cpu(lfs)} | ${cpu(xet)}`);
  }
  const median = ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? 0;
  console.log(`the median ratio is ${median.toFixed(2)} (aim ≥ ${AIM})`);

  for (const first of ["xet", "lfs"] as const) {
    const repo = `versions-${first}`;
    await writeRandom(path, 200 * MIB);
    await upload(repo, path, { isXet: first === "xet" });
    if (first === "lfs") await chunked();
    const before = await storedBytes(repo);
    await change(path, 2 * MIB);
    await upload(repo, path, { isXet: true, home: "another computer" });
    const sent = (await storedBytes(repo)) - before;
    console.log(
      `the second version of 200 MiB, after one by ${first}: ${((100 * sent) / (200 * MIB)).toFixed(2)} % is sent (aim ≤ 5 %)`,
    );
  }
} finally {
  await instance.close();
  await stopService({ ...running, isDataShared: false });
  rmSync(directory, { recursive: true, force: true });
}

async function writeRandom(path: string, bytes: number): Promise<void> {
  const file = await open(path, "w");
  for (let at = 0; at < bytes; at += MIB) await file.write(randomBytes(Math.min(MIB, bytes - at)));
  await file.close();
}

async function change(path: string, bytes: number): Promise<void> {
  const file = await open(path, "r+");
  await file.write(randomBytes(bytes), 0, bytes, 77 * MIB);
  await file.close();
}

/** An upload by Git LFS must not count as a cost of the next upload. */
async function settle(): Promise<void> {
  await chunked();
  await run("sync");
}

async function chunked(): Promise<void> {
  while ((await db().lfsObject.count({ where: { chunksDueAt: { not: null } } })) > 0)
    await new Promise((done) => setTimeout(done, 200));
}

async function storedBytes(name: string): Promise<number> {
  const { _sum } = await db().xetXorb.aggregate({
    where: { hasHeaders: true, repoId: (await db().repo.findFirstOrThrow({ where: { name } })).id },
    _sum: { sizeBytes: true },
  });
  return Number(_sum.sizeBytes ?? 0);
}
