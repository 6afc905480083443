import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cpuSecondsSoFar, describeProfile, readProfile } from "./test/profile.ts";
import { readPlaywright, readVitest } from "./test/read-results.ts";
import { runTool } from "./test/run-tool.ts";
import { addTallies, NOTHING, type Tally, tallyOfCheck } from "./test/tally.ts";
import { testFiles } from "./test/test-files.ts";

/**
 * `npm test`: format and lint, types, the tests beside the sources, the stories in a browser. All of them run whatever the
 * others say. At the end it names what failed, and the last line is `N passed, N failed`; lint and types count as one each. The tests bring their databases
 * with them, in temporary directories.
 *
 *   npm test -- NAME…      only the files of tests and stories with one of these in their path; the pages are built for stories alone
 *   npm test -- --profile  what took how long, at the end
 */
const { values, positionals: names } = parseArgs({ options: { profile: { type: "boolean" } }, allowPositionals: true });
const results = mkdtempSync(join(tmpdir(), "keyhook-results-"));
const playwrightResults = join(results, "playwright.json");

const matches = (file: string) => names.length === 0 || names.some((name) => file.includes(name));
const stories = globSync("e2e/*.spec.ts").filter((file) => file !== "e2e/shots.spec.ts" && matches(file));
const tests = Object.values(testFiles()).flat().filter(matches);
if (tests.length + stories.length === 0) {
  console.error(`No file of tests or stories has ${names.join(" or ")} in its path.`);
  process.exit(1);
}

type Step = { title: string; run: () => Promise<Tally> };

const isWhole = names.length === 0;
const check = (title: string, name: string, ...args: string[]): Step => ({
  title,
  run: async () => tallyOfCheck(title, await runTool(name, args, {}, { isBeside: true })),
});

/** One row after another; those of a row run beside each other. Types are read once Next does not write its own any more. */
const rows: Step[][] = [
  [
    ...(isWhole ? [check("format and lint", "biome", "check", "."), { title: "pure tests", run: () => runVitest("pure") }] : []),
    { title: "what the others need", run: prepare },
  ],
  [
    ...(isWhole ? [check("types", "tsc", "--noEmit")] : []),
    ...(tests.length > 0 ? [{ title: "unit and protocol tests", run: () => runVitest(isWhole ? "!pure" : undefined) }] : []),
  ],
  stories.length > 0 ? [{ title: "stories in a browser", run: runStories }] : [],
].filter((row) => row.length > 0);

async function prepare(): Promise<Tally> {
  const parts = stories.length > 0 ? ["--build", "--browser"] : [];
  const status = await runTool("node", ["scripts/setup.mjs", ...parts, "--git", "--jobs"]);
  if (status !== 0) throw new Error("What the tests need could not be made ready.");
  return NOTHING;
}

async function runVitest(project?: "pure" | "!pure"): Promise<Tally> {
  const name = project === "pure" ? project : "tests";
  const report = join(results, `${name}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  if (values.profile) reporters.push("--reporter=./scripts/test/profile-reporter.ts");
  const environment = { KEYHOOK_PROFILE: join(results, `${name}.profile.json`) };
  const args = ["run", ...reporters, ...(project ? [`--project=${project}`] : []), ...names];
  return readVitest(report, await runTool("vitest", args, environment, { isBeside: project === "pure" }));
}

async function runStories(): Promise<Tally> {
  const args = ["test", "--config", "e2e/playwright.config.ts", "--reporter=list,json", ...(isWhole ? [] : stories)];
  const environment = { PLAYWRIGHT_JSON_OUTPUT_FILE: playwrightResults };
  return readPlaywright(playwrightResults, await runTool("playwright", args, environment));
}

const took: Record<string, number> = {};
async function runStep({ title, run }: Step): Promise<Tally> {
  const startedAt = performance.now();
  const tally = await run();
  took[title] = performance.now() - startedAt;
  if (run !== prepare) console.log(`— ${title}: ${tally.passed} passed, ${tally.failed} failed`);
  return tally;
}

let total = NOTHING;
for (const row of rows) {
  console.log(`\n— ${row.map(({ title }) => title).join("; ")}`);
  total = (await Promise.all(row.map(runStep))).reduce(addTallies, total);
}
if (values.profile) {
  const files = ["pure", "tests"].map((name) => join(results, `${name}.profile.json`));
  console.log(describeProfile(readProfile(files, playwrightResults), took, cpuSecondsSoFar()));
}
rmSync(results, { recursive: true, force: true });

if (total.failures.length > 0) console.log(["\n— failed", ...total.failures].join("\n"));
console.log(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;
