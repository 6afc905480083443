import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { runGit } from "./run-git.ts";

test("S138 git that takes too long is ended, which is no failure of ours", async () => {
  const endless = new Readable({ read: () => undefined });
  const running = runGit(tmpdir(), ["hash-object", "--stdin"], { input: endless, timeoutMs: 100 });
  await expect(running).rejects.toMatchObject({ name: "ServiceError", code: "unavailable", retryAfterSeconds: 60 });
});
