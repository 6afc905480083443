import { createHash, randomBytes } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, test, vi } from "vitest";
import { env } from "../../../env.ts";
import { localStorage } from "./local-storage.ts";

test("keeping a file syncs the folders above it, so that the file survives a power failure", async () => {
  const content = randomBytes(10);
  const oid = createHash("sha256").update(content).digest("hex");
  const location = localStorage.newLocation("repository", oid);
  const received = await localStorage.receive(
    location,
    { oid, size: content.length },
    (async function* () {
      yield content;
    })(),
  );
  const synced: number[] = [];
  const handle = await open(env().DATA_DIR);
  const sync = vi.spyOn(Object.getPrototypeOf(handle), "sync").mockImplementation(async function (this: typeof handle) {
    synced.push((await this.stat()).ino);
  });
  await received.keep();
  sync.mockRestore();
  await handle.close();
  let folder = dirname(localStorage.pathOf?.(location) ?? "");
  for (let depth = 0; depth < 5; depth++, folder = dirname(folder)) expect(synced).toContain((await stat(folder)).ino);
});
