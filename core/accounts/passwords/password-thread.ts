import { parentPort } from "node:worker_threads";
import { hashSync, verifySync } from "@node-rs/argon2";
import { lowerPriority } from "../../lower-priority.ts";
import { ARGON2 } from "./argon2.ts";

export type PasswordTask = { password: string; hash?: string };

/** On systems other than Linux, the whole process would get the lower priority. */
if (process.platform === "linux") lowerPriority(10);

parentPort?.on("message", ({ password, hash }: PasswordTask) => {
  parentPort?.postMessage(hash === undefined ? hashSync(password, ARGON2) : verifySync(hash, password));
});
