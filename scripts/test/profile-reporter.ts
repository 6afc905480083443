import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";
import type { Profiled } from "./profile.ts";

export default class ProfileReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module): Profiled => {
      const { prepareDuration, environmentSetupDuration, setupDuration, collectDuration, duration } = module.diagnostic();
      const setUp = prepareDuration + environmentSetupDuration + setupDuration;
      return { file: module.relativeModuleId, ms: { "set-up": setUp, collect: collectDuration, tests: duration } };
    });
    writeFileSync(process.env.KEYHOOK_PROFILE as string, JSON.stringify(files));
  }
}
