import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

function processThat(does: string) {
  const script = `
    const { surviveRejections } = await import("./core/instance/process-lifecycle.ts");
    const { startProcessMetrics } = await import("./core/operations/metrics/process-metrics.ts");
    surviveRejections();
    const metrics = startProcessMetrics("worker");
    setImmediate(() => { ${does} });
    setTimeout(async () => {
      const counted = (await metrics.report()).find(({ name }) => name === "keyhook_unhandled_rejections_total");
      console.log("alive", JSON.stringify(counted.values.map(({ value }) => value)));
      process.exit(0);
    }, 300);`;
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    env: { ...process.env, LOG_LEVEL: "error" },
    encoding: "utf8",
  });
  return { status, stdout };
}

it("an unhandled rejection is logged and counted, and does not end the process", () => {
  const { status, stdout } = processThat(`Promise.reject(new RangeError("of one job")); Promise.reject("no error at all");`);
  expect(status).toBe(0);
  expect(stdout).toContain("alive [2]");
  expect(stdout).toContain("of one job");
  expect(stdout.match(/"level":50/g)).toHaveLength(2);
});

it("an uncaught exception ends the process, and the log names the reason", () => {
  const { status, stdout } = processThat(`throw new RangeError("half done")`);
  expect(status).toBe(1);
  expect(stdout).not.toContain("alive");
  expect(stdout).toMatch(/"level":60.*half done/);
});
