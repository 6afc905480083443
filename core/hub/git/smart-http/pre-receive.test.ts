import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { sourcePath } from "../../../source-path.ts";
import { runGit } from "../run-git.ts";

/** Each object is a delta of the one before (gitformat-pack). */
function packOfOneChain(deltas: number): Buffer {
  const content = Buffer.from("0000");
  const objects = [Buffer.concat([Buffer.from([(3 << 4) | 4]), deflateSync(content)])];
  for (let at = 1; at <= deltas; at++) {
    // The sizes of base and result, and four bytes to add.
    const delta = Buffer.from([4, 4, 4, 0, 0, 0, 0]);
    delta.writeUInt32BE(at, 3);
    const distance = (objects.at(-1) as Buffer).length;
    objects.push(Buffer.concat([Buffer.from([(6 << 4) | delta.length, distance]), deflateSync(delta)]));
  }
  const head = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  head.writeUInt32BE(objects.length, 8);
  const body = Buffer.concat([head, ...objects]);
  return Buffer.concat([body, hash("sha1", body, "buffer")]);
}

test("S137 the hook refuses a long chain of deltas, because listing it takes quadratic time", async () => {
  const path = await mkdtemp(join(tmpdir(), "chain-"));
  await runGit(path, ["init", "--quiet", "--bare"]);
  await writeFile(join(path, "objects/pack/one.pack"), packOfOneChain(20_000));
  await runGit(path, ["index-pack", "objects/pack/one.pack"]);
  const child = spawn(sourcePath("core/hub/git/smart-http/hooks/plain/pre-receive"), {
    cwd: path,
    env: {
      ...process.env,
      GIT_DIR: path,
      GIT_QUARANTINE_PATH: join(path, "objects"),
      KEYHOOK_FILE_MAX_BYTES: "1000",
      KEYHOOK_LIST_CPU_SECONDS: "1",
    },
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const channel = child.stdio[3] as Duplex;
  channel.on("data", (chunk: Buffer) => String(chunk).endsWith("ready\n") && channel.write("stop\n"));
  expect((await text(channel)).split("\n").slice(1)).toEqual([
    "failed",
    expect.stringMatching(/^unpacked /),
    expect.stringMatching(/^objects /),
    "ready",
    "",
  ]);
}, 60_000);
