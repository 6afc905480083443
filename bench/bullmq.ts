import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** The benchmark installs BullMQ into a directory of its own, so only this part of its types is declared. */
type Connection = { connection: { host: string; port: number; maxRetriesPerRequest: null } };
type BullMq = {
  Queue: new (
    name: string,
    options: Connection,
  ) => {
    addBulk(jobs: { name: string; data: unknown }[]): Promise<unknown>;
    getCompletedCount(): Promise<number>;
    close(): Promise<void>;
  };
  Worker: new (
    name: string,
    process: (job: { data: unknown }) => Promise<unknown>,
    options: Connection & { concurrency: number; autorun: boolean },
  ) => { waitUntilReady(): Promise<unknown>; run(): void; close(): Promise<void> };
};

const PACKAGES = ["bullmq@6.7.0", "ioredis@6.0.0"];

export function installBullMq(directory: string): void {
  if (existsSync(join(directory, "node_modules/bullmq"))) return;
  execFileSync("npm", ["install", "--prefix", directory, "--no-audit", "--no-fund", "--ignore-scripts", ...PACKAGES], {
    stdio: "ignore",
  });
}

export const loadBullMq = (directory: string): BullMq => createRequire(join(directory, "package.json"))("bullmq");

export const connectionTo = (port: number): Connection => ({
  connection: { host: "127.0.0.1", port, maxRetriesPerRequest: null },
});
