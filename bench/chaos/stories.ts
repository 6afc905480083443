import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";

/** Until `to`, when its last thread had ended, the system accepted connections for the killed node. */
export type Kill = { name: string; from: number; to: number };
/** What supervise-nodes.ts leaves when it ends. */
export type Report = { kills: Kill[]; failures: string; output: string };
export const KILL_FILE = "kill";
export const REPORT_FILE = "report.json";

/**
 * A third of the stories: those in which a later request, often from another program, needs what an earlier one did, so that one process's
 * memory could hide what the others do not know. Codes, questions, sessions and second steps go from request to request; live pages follow
 * what another process did; pushes, jobs, Spaces and relays are seen by processes that did not take part. The others change and show rows
 * of the database in the same ways, or test pages alone.
 */
const STORIES = [
  ...["sign-in", "consent", "device", "second-step", "organizations", "organization-life"],
  ...["webhooks", "relay", "jobs", "spaces", "hub", "repo-editing"],
];

/**
 * `npm run chaos -- stories [kills] [NAME…]`: stories in a browser (e2e/), or those with one of these names, on several nodes. With `kills`, a
 * web process is killed every 20 seconds, and a story that fails is repeated twice; only requests that were in flight may fail.
 */
export async function runStories(words: string[]): Promise<number> {
  execFileSync(process.execPath, ["scripts/setup.mjs", "--programs", "--git", "--jobs", "--browser"], { stdio: "inherit" });
  const records = mkdtempSync(join(tmpdir(), "keyhook-stories-"));
  const results = join(records, "results.json");
  const hasKills = words[0] === "kills";
  const chosen = words.slice(hasKills ? 1 : 0);
  const files = (chosen.length > 0 ? chosen : STORIES).map((name) => `e2e/${name}.spec.ts`);
  const options = ["--config", "e2e/playwright.config.ts", "--reporter=list,json", `--retries=${hasKills ? 2 : 0}`];
  const child = spawn(process.execPath, ["node_modules/@playwright/test/cli.js", "test", ...options, ...files], {
    env: {
      ...process.env,
      ...{ KEYHOOK_SUPERVISOR: "bench/chaos/supervise-nodes.ts", CHAOS_STORIES: records, PLAYWRIGHT_JSON_OUTPUT_FILE: results },
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout.on("data", (piece) => {
    process.stdout.write(piece);
    // The demo is complete.
    if (hasKills && /^Running /m.test(String(piece))) writeFileSync(join(records, KILL_FILE), "");
  });
  await once(child, "exit");
  const report: Report = JSON.parse(readFileSync(join(records, REPORT_FILE), "utf8"));
  const { suites }: PlaywrightReport = JSON.parse(readFileSync(results, "utf8"));
  rmSync(records, { recursive: true });
  return judge(suites.flatMap(attemptsOf), report);
}

/** An attempt without a request that failed while a node died must pass. @returns the exit status */
function judge(attempts: Attempt[], { kills, failures, output }: Report): number {
  const failed = failures
    .split("\n")
    .filter((line) => /^\d/.test(line))
    .map(readFailure);
  const isInFlight = ({ from, to }: Failure) => kills.some((kill) => from <= kill.to && kill.from <= to);
  const end = Math.max(...attempts.map(({ to }) => to));
  const isFault = (failure: Failure) => failure.isByService && failure.to < end && !isInFlight(failure);
  let unexplained = 0;
  for (const { title, from, to, error } of attempts) {
    if (error === undefined) continue;
    const during = failed.filter((failure) => failure.from <= to && from <= failure.to && isInFlight(failure));
    if (during.length === 0) unexplained++;
    console.log([`\n${title}: ${error}`, ...during.map(({ line }) => `  in flight: ${line}`)].join("\n"));
  }
  const faults = failed.filter(isFault);
  for (const { line } of faults) console.log(`\nfailed, although no node died: ${line}`);
  const stories = Map.groupBy(attempts, ({ title }) => title);
  const passedAfter = (count: number) => [...stories.values()].filter((all) => all.length === count && !all.at(-1)?.error).length;
  const [first, second, third] = [1, 2, 3].map(passedAfter);
  console.log(
    `\n${stories.size} stories: ${first} passed at once, ${second} at the second attempt, ${third} at the third; ${unexplained} failed attempts ` +
      `without a request in flight; ${kills.length} kills; requests that failed: ${failed.filter(isInFlight).length} in flight, ${faults.length} others`,
  );
  const isPassed = unexplained + faults.length === 0 && (first ?? 0) + (second ?? 0) + (third ?? 0) === stories.size;
  if (!isPassed) console.log(output.slice(-20_000));
  return isPassed ? 0 : 1;
}

type Failure = { line: string; from: number; to: number; isByService: boolean };

/**
 * A line of the proxy's log (nodes.ts). If a page was closed, the state begins with C. A 5xx of the service itself has no state. Stories
 * also stop Spaces, which ends their requests.
 */
function readFailure(line: string): Failure {
  const [seconds = "", ms = "", , , state = "", , path = ""] = line.split(" ");
  const from = Number(seconds) * 1_000;
  return {
    line,
    from,
    to: from + Number(ms),
    isByService: /^[SD]/.test(state) && !path.startsWith("/spaces/"),
  };
}

type Attempt = { title: string; from: number; to: number; error: string | undefined };
type Result = { status: string; startTime: string; duration: number; error?: { message?: string } };
type Suite = { file: string; title: string; suites?: Suite[]; specs?: { title: string; tests: { results: Result[] }[] }[] };
type PlaywrightReport = { suites: Suite[] };

function attemptsOf({ title: above, suites = [], specs = [] }: Suite): Attempt[] {
  const own = specs.flatMap(({ title, tests }) =>
    tests.flatMap(({ results }) =>
      results
        .filter(({ status }) => status !== "skipped")
        .map(({ status, startTime, duration, error }) => {
          const from = Date.parse(startTime);
          const message = stripVTControlCharacters(error?.message ?? status);
          return { title: `${above} › ${title}`, from, to: from + duration, error: status === "passed" ? undefined : message };
        }),
    ),
  );
  return [...own, ...suites.flatMap(attemptsOf).map((each) => ({ ...each, title: `${above} › ${each.title}` }))];
}
