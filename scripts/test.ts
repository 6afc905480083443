import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cpuSecondsSoFar, describeProfile, readProfile, runTool } from "./test/profile.ts";
import { formatDuration, Progress, type Watched } from "./test/progress.ts";
import { addTallies, NOTHING, readPlaywright, readVitest, type Tally, tallyOfCheck } from "./test/read-results.ts";
import { type TestKind, testFiles } from "./test/test-files.ts";

/**
 * `npm test` runs all checks and tests even if one fails, unless the pages or the programs cannot be prepared. The last line is
 * `N passed, N failed`. Each linter and the type check count as one test. CI repeats up to three failed files alone, and lists
 * the files that then pass as flaky.
 *
 *   npm test -- NAME…      only test files and stories whose path contains one of these; builds the pages only for stories
 *   npm test -- --profile  reports at the end how long each part took
 */
const { values, positionals: names } = parseArgs({ options: { profile: { type: "boolean" } }, allowPositionals: true });
const results = mkdtempSync(join(tmpdir(), "keyhook-results-"));
const playwrightResults = join(results, "playwright.json");

const matches = (file: string) => names.length === 0 || names.some((name) => file.includes(name));
const stories = globSync("e2e/*.spec.ts").filter((file) => file !== "e2e/shots.spec.ts" && matches(file));
const tests = Object.values(testFiles()).flat().filter(matches);
if (tests.length + stories.length === 0) {
  console.error(`No test or story file has ${names.join(" or ")} in its path.`);
  process.exit(1);
}

const progress = process.stdout.isTTY && !process.env.CI ? new Progress() : undefined;

type OnLine = Watched["onLine"] | undefined;
type Step = { title: string; run: (onLine: OnLine) => Promise<Tally>; files?: number };

const isWhole = names.length === 0;
const check = (title: string, name: string, ...args: string[]): Step => ({
  title,
  run: async (onLine) => tallyOfCheck(title, await runTool(name, args, {}, { isBeside: true, onLine })),
});

/** The rows run one after another, the steps of a row in parallel. The type check waits until Next has written its types. */
const rows: Step[][] = [
  [
    ...(isWhole
      ? [
          check("format and lint", "biome", "check", "."),
          check("plain English", "node", "scripts/prose.ts"),
          check("migrations", "squawk", "--no-error-on-unmatched-pattern", "prisma/migrations/*/migration.sql"),
          vitestStep("pure tests", "pure"),
        ]
      : []),
    ...(stories.length > 0 ? [prepare("pages and packages", "--build")] : []),
    prepare("programs", "--programs", "--git", "--jobs", "--database", ...(stories.length > 0 ? ["--browser"] : [])),
  ],
  isWhole
    ? [check("types", "tsc", "--noEmit"), vitestStep("unit and protocol tests", "database")]
    : tests.length > 0
      ? [vitestStep("unit and protocol tests")]
      : [],
  [
    ...(isWhole ? [vitestStep("tests of a running service", "process")] : []),
    ...(stories.length > 0 ? [{ title: "stories in a browser", run: runStories }] : []),
  ],
].filter((row) => row.length > 0);

function prepare(title: string, ...parts: string[]): Step {
  const run = async (onLine: OnLine) => {
    const status = await runTool("node", ["scripts/setup.mjs", ...parts], {}, { isBeside: true, onLine });
    if (status !== 0) throw new Error("The programs that the tests need could not be installed.");
    return NOTHING;
  };
  return { title, run };
}

function vitestStep(title: string, project?: TestKind): Step {
  return { title, run: (onLine) => runVitest(onLine, project), files: project ? testFiles()[project].length : tests.length };
}

async function runVitest(onLine: OnLine, project?: TestKind, files = names): Promise<Tally> {
  const name = project ?? "tests";
  const report = join(results, `${name}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  if (values.profile) reporters.push("--reporter=./scripts/test/profile-reporter.ts");
  const environment = { KEYHOOK_PROFILE: join(results, `${name}.profile.json`) };
  const args = ["run", ...reporters, ...(project ? [`--project=${project}`] : []), ...files];
  const isBeside = project === "pure" || project === "process";
  return readVitest(report, await runTool("vitest", args, environment, { isBeside, onLine }));
}

async function runStories(onLine: OnLine, files = isWhole ? [] : stories): Promise<Tally> {
  const args = ["test", "--config", "e2e/playwright.config.ts", "--reporter=list,json", ...files];
  const environment = { PLAYWRIGHT_JSON_OUTPUT_FILE: playwrightResults };
  return readPlaywright(playwrightResults, await runTool("playwright", args, environment, { isBeside: isWhole, onLine }));
}

const took: Record<string, number> = {};
async function runStep({ title, run, files }: Step): Promise<Tally> {
  const startedAt = performance.now();
  const watched = progress?.begin(title, files);
  const tally = await run(watched?.onLine).catch((error: unknown) => {
    progress?.end(title, "✗", "", watched?.failure());
    progress?.close();
    throw error;
  });
  took[title] = performance.now() - startedAt;
  const result = tally === NOTHING ? "" : `${tally.passed} passed, ${tally.failed} failed`;
  if (progress) progress.end(title, tally.failed === 0 ? "✓" : "✗", result, tally.failed === 0 ? "" : watched?.failure());
  else if (result) console.log(`— ${title}: ${result}`);
  return tally;
}

let total = NOTHING;
for (const row of rows) {
  if (!progress) console.log(`\n— ${row.map(({ title }) => title).join("; ")}`);
  total = (await Promise.all(row.map(runStep))).reduce(addTallies, total);
}
progress?.close();
if (values.profile) {
  const files = ["pure", "database", "process", "tests"].map((name) => join(results, `${name}.profile.json`));
  console.log(describeProfile(readProfile(files, playwrightResults), took, cpuSecondsSoFar()));
}
const flaky = process.env.CI ? await rerunFailedFiles() : [];
rmSync(results, { recursive: true, force: true });

if (flaky.length > 0) console.log(["\n— flaky: failed beside other tests and passed alone; to be fixed", ...flaky].join("\n"));
if (total.failures.length > 0) console.log(["\n— failed", ...total.failures].join("\n"));
if (progress) console.log(lastBlock(total));
console.log(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;

function failedFiles(): string[] {
  return [...new Set(total.failures.flatMap((failure) => /^\S+\.(?:test|spec)\.tsx?/.exec(failure) ?? []))];
}

/** Does nothing if more than three files failed, because that is not an accident. */
async function rerunFailedFiles(): Promise<string[]> {
  const files = failedFiles();
  if (files.length > 3) return [];
  const passed = new Set<string>();
  for (const file of files) {
    console.log(`\n— again, alone: ${file}`);
    rmSync(playwrightResults, { force: true });
    const { failed } = await (file.startsWith("e2e/") ? runStories(undefined, [file]) : runVitest(undefined, undefined, [file]));
    if (failed === 0) passed.add(file);
  }
  const fromPassed = (failure: string) => [...passed].some((file) => failure.startsWith(file));
  const accidents = total.failures.filter(fromPassed);
  total.failures = total.failures.filter((failure) => !fromPassed(failure));
  total.failed -= accidents.length;
  total.passed += accidents.length;
  return accidents;
}

function lastBlock({ failures }: Tally): string {
  const time = formatDuration(performance.now());
  if (failures.length === 0) return `\nEverything passed after ${time}.`;
  const files = failedFiles();
  const again = files.length > 0 ? ` To run these files again: npm test -- ${files.join(" ")}` : "";
  return `\nSomething failed after ${time}.${again}`;
}
