import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { cpuSecondsSoFar, describeProfile, readProfile } from "./test/profile.ts";
import { failedFiles, readPlaywright, readVitest } from "./test/read-results.ts";
import { runTool } from "./test/run-tool.ts";
import { addTallies, afterSecondTry, type Tally, tallyOfCheck } from "./test/tally.ts";
import { testFiles } from "./test/test-files.ts";

/**
 * `npm test`: format and lint, types, the tests beside the sources, the stories in a browser. All of them run whatever the
 * others say, and the last line is `N passed, N failed`; lint and types count as one each. The tests bring their databases
 * with them, in temporary directories.
 *
 *   npm test -- NAME…      only the files of tests and stories with one of these in their path; the pages are built for stories alone
 *   npm test -- --profile  what took how long, at the end
 */
const { values, positionals: names } = parseArgs({ options: { profile: { type: "boolean" } }, allowPositionals: true });
const results = mkdtempSync(join(tmpdir(), "keyhook-results-"));
const playwrightResults = join(results, "playwright.json");

/** More than that is no chance. */
const MOST_TRIED_AGAIN = 10;

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
  run: async () => tallyOfCheck(await runTool(name, args, {}, { isBeside: true })),
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
  return { passed: 0, failed: 0 };
}

/**
 * Files that failed are run once more, one after another, as Playwright does with its stories: on a busy machine one of thousands
 * of tests meets a moment that it was not made for. They are named, since a test that needs its second try wants mending.
 */
async function runVitest(project?: "pure" | "!pure"): Promise<Tally> {
  const name = project === "pure" ? project : "tests";
  const args = [...(project ? [`--project=${project}`] : []), ...names];
  const first = await vitest(name, args);
  const files = failedFiles(join(results, `${name}.json`));
  if (first.failed === 0 || files.length === 0 || files.length > MOST_TRIED_AGAIN) return first;
  console.log(`\n— once more, by themselves: ${files.map((file) => relative(process.cwd(), file)).join(", ")}`);
  return afterSecondTry(first, await vitest(`${name}-again`, ["--maxWorkers=1", ...files]));
}

async function vitest(name: string, args: string[]): Promise<Tally> {
  const report = join(results, `${name}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  if (values.profile) reporters.push("--reporter=./scripts/test/profile-reporter.ts");
  const environment = { KEYHOOK_PROFILE: join(results, `${name}.profile.json`) };
  return readVitest(
    report,
    await runTool("vitest", ["run", ...reporters, ...args], environment, { isBeside: name.startsWith("pure") }),
  );
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

let total: Tally = { passed: 0, failed: 0 };
for (const row of rows) {
  console.log(`\n— ${row.map(({ title }) => title).join("; ")}`);
  total = (await Promise.all(row.map(runStep))).reduce(addTallies, total);
}
if (values.profile) {
  const files = ["pure", "tests"].map((name) => join(results, `${name}.profile.json`));
  console.log(describeProfile(readProfile(files, playwrightResults), took, cpuSecondsSoFar()));
}
rmSync(results, { recursive: true, force: true });

console.log(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;
