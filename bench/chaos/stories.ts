import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";

/** `to` is when the killed node's last thread had ended, because until then the system accepted connections. */
export type Kill = { name: string; from: number; to: number };
export type Report = { kills: Kill[]; failures: string; output: string };
export const KILL_FILE = "kill";
export const REPORT_FILE = "report.json";

/** In these stories, later requests depend on earlier ones, so state in one process's memory would cause failures. */
const STORIES = [
  ...["sign-in", "consent", "device", "second-step", "organizations", "organization-life"],
  ...["webhooks", "relay", "jobs", "spaces", "hub", "repo-editing"],
];

/** `npm run chaos -- stories [kills] [NAME…]`: `kills` kills a web process every 20 seconds, and repeats failed stories. */
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
    if (hasKills && /^Running /m.test(String(piece))) writeFileSync(join(records, KILL_FILE), "");
  });
  await once(child, "exit");
  const report: Report = JSON.parse(readFileSync(join(records, REPORT_FILE), "utf8"));
  const { suites }: PlaywrightReport = JSON.parse(readFileSync(results, "utf8"));
  const isPassed = judge(suites.flatMap(attemptsOf), report);
  if (isPassed) rmSync(records, { recursive: true });
  else console.log(`The logs of the nodes and the results are in ${records}.`);
  return isPassed ? 0 : 1;
}

/** HAProxy notices a dead node after three checks, one a second. It then ends the requests that wait for the node. */
const NOTICED_MS = 4_000;

/** Prints why each attempt failed, so that a person can judge, because HAProxy may close a connection without logging it. */
function judge(attempts: Attempt[], { kills, failures, output }: Report): boolean {
  const isKilledIn = ({ from, to }: Span) => kills.some((kill) => from <= kill.to + NOTICED_MS && kill.from <= to);
  const failed = attempts.filter(({ error }) => error !== undefined);
  for (const attempt of failed)
    console.log(`\n${attempt.title}${isKilledIn(attempt) ? "" : ", although no node died"}: ${attempt.error}`);
  const end = Math.max(...attempts.map(({ to }) => to));
  const ended = failures
    .split("\n")
    .map(readFailure)
    .filter(({ isByService, to }) => isByService && to < end);
  for (const each of ended)
    console.log(`\nended by the service${isKilledIn(each) ? "" : ", although no node died"}: ${each.line}`);
  const errors = output.split("\n").filter((line) => /^\{"level":[56]0/.test(line));
  for (const line of errors) console.log(`\nlogged: ${line}`);
  const faults = [...failed, ...ended].filter((each) => !isKilledIn(each));
  const stories = [...Map.groupBy(attempts, ({ title }) => title).values()];
  const [first, second, third] = [1, 2, 3].map(
    (tries) => stories.filter((all) => all.length === tries && !all.at(-1)?.error).length,
  );
  console.log(
    `\n${kills.length} kills; ${stories.length} stories: ${first} passed at once, ${second} at the second attempt, ${third} at the third`,
  );
  console.log(
    `${ended.length} requests ended by the service; ${faults.length} failures although no node died; ${errors.length} errors logged`,
  );
  return faults.length + errors.length === 0 && stories.every((all) => !all.at(-1)?.error);
}

type Span = { from: number; to: number };

/**
 * The state starts with S if the service ended the request, and with D if the node was down. A stopped Space ends requests too.
 */
function readFailure(line: string): Span & { line: string; isByService: boolean } {
  const [seconds, total, active, , , state = "", , path = ""] = line.split(" ");
  const to = Number(seconds) * 1_000 + Number(total);
  return { line, from: to - Number(active), to, isByService: /^[SD]\S{3}$/.test(state) && !path.startsWith("/spaces/") };
}

type Attempt = Span & { title: string; error: string | undefined };
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
