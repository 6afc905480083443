import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { provideSettings } from "#core/env.ts";
import { openInstance } from "#core/instance/open-instance.ts";
import { startEmbedded } from "#core/postgres/embedded.ts";
import { freePort } from "#core/postgres/free-port.ts";
import { startService, stopService } from "#core/testing/running-service.ts";
import { type Mount, startMooseFs } from "../moosefs.ts";
import { killNow, killTree } from "../nodes.ts";
import { createOwner, versions } from "../service.ts";
import { compare } from "./compare.ts";
import type { Place } from "./places.ts";
import { strikeAll } from "./strike.ts";

/** Without this option, a client's view of created and deleted folders is a second late (docs/operations.md). */
const MOUNT_OPTIONS = "mfsdirentrycacheto=0";

/**
 * `npm run chaos -- filesystem [OPTIONS]`: compares MooseFS with the local disk. Then two web processes, each with its own mount,
 * receive pushes to the same repositories while something fails.
 * @param options options of the mounts, instead of the recommended ones
 * @returns the exit status: 1 if a requirement failed
 */
export async function runFilesystem([options = MOUNT_OPTIONS]: string[]): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-filesystem-"));
  chmodSync(directory, 0o755); // PostgreSQL does not run as root
  for (const what of ["SIGINT", "SIGTERM"] as const) process.once(what, () => process.exit(1));
  mkdirSync(join(directory, "database"));
  const fs = await startMooseFs(join(directory, "moosefs"));
  const database = await startEmbedded(join(directory, "database"));
  const places: Place[] = [];
  // Runs after a failure too. moosefs.ts unmounts the file system first.
  process.once("exit", () => {
    for (const { running } of places) if (running) killTree(running.process.pid as number);
    killNow(database.pid, "SIGQUIT");
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });
  const shared = {
    ...{ DATABASE_URL: database.url, DATABASE_OWNER_URL: database.ownerUrl, SECRET_KEY: "for the bench only ".repeat(2) },
    ...{ ORIGIN: "http://localhost:3000", LOG_LEVEL: "error" },
  };
  const addPlace = async (name: string, mount?: Mount): Promise<Place> => {
    const DATA_DIR = join(directory, name);
    const folder = mount?.path ?? join(directory, "local");
    mkdirSync(DATA_DIR);
    mkdirSync(join(folder, "repositories"), { recursive: true });
    symlinkSync(join(folder, "repositories"), join(DATA_DIR, "repositories"));
    const place = { name, folder, settings: { ...shared, DATA_DIR, PORT: String(await freePort()) }, ...(mount && { mount }) };
    places.push(place);
    return place;
  };
  const start = async (place: Place) => {
    place.running = await startService(place.settings, ["--only", "web"]);
  };
  const disk = await addPlace("disk");
  const [anna, bela] = [await addPlace("anna", await fs.add("a", options)), await addPlace("bela", await fs.add("b", options))];
  await start(disk);
  await Promise.all([start(anna), start(bela)]);
  provideSettings({ ...shared, DATA_DIR: bela.settings.DATA_DIR as string });
  const instance = await openInstance();
  const input = { name: "bench", scopes: ["write-repos"], expiresInDays: 1 } as const;
  const { token } = await createPersonalAccessToken(
    operatorCommand,
    await createOwner(),
    { ...input, scopes: [...input.scopes] },
    noOrigin,
  );
  const bench = { fs, disk, anna, bela, directory, token, start };
  console.log(
    `${new Date().toISOString().slice(0, 10)}, ${versions()}, MooseFS with ${options}; load average ${busy()} at the start\n`,
  );
  await compare(bench);
  const hasPassed = await strikeAll(bench);
  console.log(`\nload average ${busy()} at the end`);
  await Promise.all(places.map(({ running }) => running && stopService(running)));
  await instance.close();
  await database.stop();
  return hasPassed ? 0 : 1;
}

const busy = (): string =>
  loadavg()
    .map((each) => each.toFixed(1))
    .join(", ");
