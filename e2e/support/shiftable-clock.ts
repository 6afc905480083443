import { existsSync, readFileSync } from "node:fs";

/**
 * Preloaded into the service's processes (`NODE_OPTIONS=--import=…`) by the specs that cannot wait for what takes a quarter of
 * an hour: their clock is ahead by the seconds that the file `CLOCK_FILE` names. The service knows nothing of it.
 */
const file = process.env.CLOCK_FILE ?? "";
const { now } = Date;
let aheadMs = 0;

setInterval(() => {
  if (existsSync(file)) aheadMs = Number(readFileSync(file, "utf8")) * 1000;
}, 100).unref();

Date.now = () => now() + aheadMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length > 0 ? args : [Date.now()], newTarget),
});
