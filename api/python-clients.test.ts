import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { db } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { startBucket } from "#core/hub/lfs/testing/start-bucket.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { type Caller, someCaller } from "./testing/hub-caller.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

/** `npm run clients` installs these versions of the public hub's Python client. `npm test` has none. */
const run = promisify(execFile);
const clients = Object.entries(JSON.parse(process.env.HUB_CLIENTS ?? "{}") as Record<string, string>);

describe.skipIf(clients.length === 0).each(clients.length > 0 ? clients : [["none", ""]])("%s", (_version, python) => {
  let world: Awaited<ReturnType<typeof startApiWorld>>;
  let [ada, bea]: Caller[] = [];
  let folder: string;
  beforeAll(async () => {
    provideSettings({ TOKEN_PREFIX: "hf_" });
    [world, folder] = [await startApiWorld(), await mkdtemp(join(tmpdir(), "clients-"))];
    ada = await someCaller("manage-repos");
  });
  afterAll(async () => {
    await world.stop();
    provideSettings({ TOKEN_PREFIX: "kh_" });
    await rm(folder, { recursive: true, force: true });
  });

  async function call(args: string[], home = "home"): Promise<string> {
    const env = {
      ...process.env,
      HF_ENDPOINT: world.origin,
      HF_HOME: join(folder, home),
      HF_TOKEN: ada?.accessToken,
      TMPDIR: folder,
    };
    const { stdout } = await run(python, args, { env: { ...env, HF_HUB_DISABLE_PROGRESS_BARS: "1" }, timeout: 540_000 });
    return stdout.trim();
  }

  test.each(["a folder", "a bucket"])("does what users do, with storage in %s", { timeout: 600_000 }, async (storage) => {
    [ada, bea] = [await someCaller("manage-repos", "write-discussions"), await someCaller("write-discussions", "read-repos")];
    const bucket = storage === "a bucket" ? await startBucket() : undefined;
    // The client would send the service's token to a bucket with the same host name.
    if (bucket) provideSettings({ LFS_S3_ENDPOINT: bucket.origin.replace("localhost", "127.0.0.1") });
    try {
      await call([join(import.meta.dirname, "testing/python-client.py"), ada.username, bea.accessToken], storage);
    } finally {
      await bucket?.stop();
    }
  });

  test("uploads only the new chunks of another version, also from another computer", { timeout: 300_000 }, async () => {
    const repo = await someRepo(ada as Caller);
    const content = randomBytes(20_000_000);
    const upload = async (bytes: Buffer, home: string) => {
      const path = join(folder, "tide.bin");
      await writeFile(path, bytes);
      const script =
        "import sys, huggingface_hub as hub\nhub.upload_file(path_or_fileobj=sys.argv[1], path_in_repo='tide.bin', repo_id=sys.argv[2])";
      await call(["-c", script, path, repo.fullName], home);
    };
    await upload(content, "home");
    const before = await storedBytes(repo);
    expect(before).toBeGreaterThan(20_000_000);
    randomBytes(200_000).copy(content, 9_000_000);
    await upload(
      Buffer.concat([content.subarray(0, 5_000_000), Buffer.from("an insertion"), content.subarray(5_000_000)]),
      "another",
    );
    expect(await storedBytes(repo)).toBeLessThan(before * 1.05);
  });
});

async function storedBytes(repo: Repo): Promise<number> {
  const { _sum } = await db().xetXorb.aggregate({ where: { repoId: repo.id }, _sum: { sizeBytes: true } });
  return Number(_sum.sizeBytes ?? 0);
}
