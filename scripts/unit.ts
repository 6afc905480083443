import { execFileSync } from "node:child_process";
import { runTool } from "./test/profile.ts";
import { testFilesNear } from "./test/test-files.ts";

/** `npm run unit` runs Vitest. With --changed, only the test files near uncommitted changes run (docs/testing.md). */
const given = process.argv.slice(2);
const args = given.filter((arg) => arg !== "--changed");
if (args.length < given.length) {
  const status = execFileSync("git", ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"], {
    encoding: "utf8",
  });
  const near = testFilesNear(status.split("\0").map((line) => line.slice(3)));
  if (near.length === 0) {
    console.log("No test file is near the uncommitted changes.");
    process.exit();
  }
  args.push(...near);
}
process.exitCode = await runTool("vitest", ["run", ...args]);
