import { watch } from "node:fs";
import { join } from "node:path";
import { log } from "../log.ts";
import type { Kept } from "./keep-running.ts";

const ROOT = join(import.meta.dirname, "../..");
const SETTLE_MS = 200;

/** The code that each process runs outside of Next, which watches its own files. */
const sources = {
  web: ["core", "api", "server", "packages"],
  worker: ["core", "worker", "packages"],
} as const;

/** For `npm run dev`: restarts a process when its code has changed. */
export function followChanges(kept: Record<keyof typeof sources, Kept>, stopping: AbortSignal): void {
  for (const [name, folders] of Object.entries(sources) as [keyof typeof sources, readonly string[]][]) {
    let timer: NodeJS.Timeout | undefined;
    for (const folder of folders) {
      watch(join(ROOT, folder), { recursive: true, signal: stopping }, (_event, file) => {
        if (!file || !/\.(ts|json)$/.test(file) || /\.test\.ts$|node_modules/.test(file)) return;
        clearTimeout(timer);
        timer = setTimeout(() => {
          log().info(`${folder}/${file} changed; starting the ${name} process again`);
          void kept[name].restart();
        }, SETTLE_MS);
      });
    }
  }
}
