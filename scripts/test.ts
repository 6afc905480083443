import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readPlaywright, readVitest } from "./test/read-results.ts";
import { runTool } from "./test/run-tool.ts";
import { addTallies, type Tally, tallyOfCheck } from "./test/tally.ts";

/**
 * `npm test`: format and lint, types, the tests beside the sources, the stories in a browser. All of them run whatever the
 * others say, and the last line is `N passed, N failed`; lint and types count as one each. The tests bring their databases
 * with them, in temporary directories.
 */
const results = mkdtempSync(join(tmpdir(), "keyhook-results-"));
const vitestResults = join(results, "vitest.json");
const playwrightResults = join(results, "playwright.json");

const steps: { title: string; run: () => Promise<Tally> }[] = [
  { title: "format and lint", run: async () => tallyOfCheck(await runTool("biome", ["check", "."])) },
  { title: "types", run: async () => tallyOfCheck(await runTool("tsc", ["--noEmit"])) },
  {
    title: "unit and protocol tests",
    run: async () => {
      const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${vitestResults}`];
      return readVitest(vitestResults, await runTool("vitest", ["run", ...reporters]));
    },
  },
  {
    title: "stories in a browser",
    run: async () => {
      const args = ["test", "--config", "e2e/playwright.config.ts", "--reporter=list,json"];
      return readPlaywright(
        playwrightResults,
        await runTool("playwright", args, { PLAYWRIGHT_JSON_OUTPUT_FILE: playwrightResults }),
      );
    },
  },
];

let total: Tally = { passed: 0, failed: 0 };
for (const { title, run } of steps) {
  console.log(`\n— ${title}`);
  const tally = await run();
  console.log(`— ${title}: ${tally.passed} passed, ${tally.failed} failed`);
  total = addTallies(total, tally);
}
rmSync(results, { recursive: true, force: true });

console.log(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;
