import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { DEVICE_CODE_GRANT, TOKEN_EXCHANGE_GRANT } from "#core/oauth/grant-types.ts";
import { POLL_INTERVAL_SECONDS } from "#core/oauth/lifetimes.ts";
import { startBare } from "./bare-target.ts";
import { cpuSeconds, statementsSoFar } from "./cost.ts";
import { benchGit } from "./git.ts";
import { load, type Prepared, pace, type Result } from "./load.ts";
import { authorizeUrl, DEVICES, REDIRECT_URI, startService, type Target, verifier } from "./targets.ts";

/**
 * `npm run bench`: the service on Postgres beside the bare engine with its in-memory store, in the same run on the same machine. Only the
 * ratios are meaningful, because both share the machine's cores with the load.
 */
// Limited, because the engine's in-memory store keeps only its 1,000 newest entries.
const BATCH = 100;
const ROUNDS = Number(process.argv[2] ?? 6);
/** Part of a target's name; only matching targets are measured. */
const ONLY = process.argv[3] ?? "";
const PACED_ROUNDS = 3;

type Row = Result & { cpuMs: number; statements?: number };
type Measure = { name: string; aim?: number; baseline?: string; run(target: Target): Promise<Row | undefined> };

const USER_EMAIL = "urn:huggingface:token-type:user-email";

const form = { "content-type": "application/x-www-form-urlencoded" };
const basic = ({ clientId, secret }: { clientId: string; secret: string }) => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}`,
});
const tokenRequest = (target: Target, body: Record<string, string>): Prepared => ({
  method: "POST",
  path: target.paths.token,
  headers: { ...form, ...basic(target) },
  body: new URLSearchParams(body).toString(),
});

function codeRequest(target: Target): Prepared {
  const url = authorizeUrl(target);
  return { method: "GET", path: url.pathname + url.search, headers: { cookie: target.browser.cookieHeader(url.href) } };
}

async function makeCodes(target: Target, count: number): Promise<string[]> {
  const codes: string[] = [];
  for (let made = 0; made < count; made++) {
    const response = await target.browser.fetch(authorizeUrl(target).href);
    const location = new URL(response.headers.get("location") ?? "", target.origin);
    const code = location.searchParams.get("code");
    if (!location.href.startsWith(REDIRECT_URI) || !code) throw new Error(`no code: ${response.status} ${location.href}`);
    codes.push(code);
  }
  return codes;
}

const exchange = (target: Target, code: string): Prepared =>
  tokenRequest(target, { grant_type: "authorization_code", code, redirect_uri: REDIRECT_URI, code_verifier: verifier });

function measureExchange(target: Target, scope: string): Promise<Row> {
  const headers = { ...form, ...basic(target.exchange) };
  const requests = target.exchange.emails.map((subject_token): Prepared => {
    const body = new URLSearchParams({
      grant_type: TOKEN_EXCHANGE_GRANT,
      subject_token,
      subject_token_type: USER_EMAIL,
      scope,
    });
    return { method: "POST", path: target.paths.token, headers, body: body.toString() };
  });
  return measureReads(target, 200, requests);
}

type Tokens = { access_token: string; refresh_token: string };

async function makeTokens(target: Target): Promise<Tokens> {
  const [code = ""] = await makeCodes(target, 1);
  const { path, headers, body } = exchange(target, code);
  const response = await fetch(new URL(path, target.origin), { method: "POST", headers, body });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Tokens;
}

/** The cost of a period of load for the service: CPU seconds of all its processes, and statements of its web process. */
async function cost<T>(target: Target, run: () => Promise<T>): Promise<{ result: T; cpu: number; statements: number }> {
  const statements = () => (target.statementsSocket ? statementsSoFar(target.statementsSocket) : 0);
  const before = { cpu: cpuSeconds(target.pid), statements: await statements() };
  const result = await run();
  return { result, cpu: cpuSeconds(target.pid) - before.cpu, statements: (await statements()) - before.statements };
}

/** Runs batches of requests, which are prepared outside of the measured time, and adds up the cost of the measured parts. */
async function measure(target: Target, status: number, batch: () => Promise<Prepared[]>): Promise<Row> {
  // The first batch is not measured. It compiles code, opens connections and prepares statements.
  await load(target.origin, await batch(), status);
  let requests = 0;
  let seconds = 0;
  let cpu = 0;
  let statements = 0;
  const times: Result[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const prepared = await batch();
    const part = await cost(target, () => load(target.origin, prepared, status));
    cpu += part.cpu;
    statements += part.statements;
    requests += part.result.requests;
    seconds += part.result.seconds;
    times.push(part.result);
  }
  const median = (pick: (result: Result) => number) => times.map(pick).sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  return {
    requests,
    seconds,
    requestsPerSecond: requests / seconds,
    p50Ms: median((result) => result.p50Ms),
    p99Ms: median((result) => result.p99Ms),
    cpuMs: (cpu / requests) * 1000,
    ...(target.statementsSocket && { statements: statements / requests }),
  };
}

const repeat = (count: number, request: Prepared): Prepared[] => Array.from({ length: count }, () => request);
const READS = BATCH * 10;

const devicePoll = (target: Target, code: string): Prepared => ({
  method: "POST",
  path: target.paths.token,
  headers: form,
  body: new URLSearchParams({ grant_type: DEVICE_CODE_GRANT, device_code: code, client_id: target.deviceClientId }).toString(),
});

/** Sends the same requests repeatedly. */
async function measureReads(target: Target, status: number, requests: Prepared[]): Promise<Row> {
  let next = 0;
  const take = () => requests[next++ % requests.length] as Prepared;
  return measure(target, status, async () => Array.from({ length: READS }, take));
}

// Each token has its own sign-in, because requests with the same token could share lookups.
const TOKENS = 50;

async function makeAccessTokens(target: Target): Promise<string[]> {
  const tokens: string[] = [];
  for (let made = 0; made < TOKENS; made++) tokens.push((await makeTokens(target)).access_token);
  return tokens;
}

async function bearerRequests(target: Target, path: string): Promise<Prepared[]> {
  const tokens = await makeAccessTokens(target);
  return tokens.map((token) => ({ method: "GET", path, headers: { authorization: `Bearer ${token}` } }));
}

/** The load of polling devices that a service must sustain beside other work: every device keeps its interval, and no user answers. */
async function pollAtPace(target: Target): Promise<void> {
  const polls = (await target.makeDeviceCodes(target.deviceClientId)).map((code) => devicePoll(target, code));
  const perSecond = DEVICES / POLL_INTERVAL_SECONDS;
  await pace(target.origin, polls, perSecond, 400);
  const rounds = Array.from({ length: PACED_ROUNDS }, () => polls).flat();
  const { result, cpu, statements } = await cost(target, () => pace(target.origin, rounds, perSecond, 400));
  const { requests, requestsPerSecond, p50Ms, p99Ms, seconds } = result;
  console.log(
    `${DEVICES} devices, a poll every ${POLL_INTERVAL_SECONDS} s: ${requestsPerSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(1)} ms, ` +
      `p99 ${p99Ms.toFixed(1)} ms, CPU ${((cpu / requests) * 1000).toFixed(2)} ms a poll (${(cpu / seconds).toFixed(2)} cores), ` +
      `${(statements / requests).toFixed(2)} statements a poll`,
  );
}

const measures: Measure[] = [
  {
    name: "code exchange",
    aim: 0.4,
    run: (target) => measure(target, 200, async () => (await makeCodes(target, BATCH)).map((code) => exchange(target, code))),
  },
  {
    name: "refresh",
    aim: 0.4,
    run: (target) =>
      measure(target, 200, async () => {
        const requests: Prepared[] = [];
        for (let made = 0; made < BATCH; made++) {
          const { refresh_token } = await makeTokens(target);
          requests.push(tokenRequest(target, { grant_type: "refresh_token", refresh_token }));
        }
        return requests;
      }),
  },
  {
    // Includes the audit entry. The organization has 100,000 members.
    name: "token exchange",
    aim: 0.4,
    run: (target) => measureExchange(target, "profile"),
  },
  {
    name: "token exchange, ID token",
    baseline: "token exchange",
    run: async (target) => (target.statementsSocket ? measureExchange(target, "openid profile") : undefined),
  },
  {
    name: "userinfo",
    aim: 0.6,
    run: async (target) => {
      return measureReads(target, 200, await bearerRequests(target, target.paths.userinfo));
    },
  },
  {
    name: "whoami-v2",
    aim: 0.6,
    baseline: "userinfo",
    run: async (target) => {
      const { whoami } = target.paths;
      if (!whoami) return undefined;
      return measureReads(target, 200, await bearerRequests(target, whoami));
    },
  },
  {
    name: "introspection",
    aim: 0.6,
    run: async (target) => {
      const headers = { ...form, ...basic(target) };
      const requests = (await makeAccessTokens(target)).map((token): Prepared => {
        return { method: "POST", path: target.paths.introspect, headers, body: new URLSearchParams({ token }).toString() };
      });
      return measureReads(target, 200, requests);
    },
  },
  {
    name: "device poll",
    aim: 0.6,
    run: async (target) => {
      const codes = await target.makeDeviceCodes(target.deviceClientId);
      const polls = codes.map((code) => devicePoll(target, code));
      return measureReads(target, 400, polls);
    },
  },
  {
    // These polls go through the whole engine, as all polls would without answer-pending-poll.ts.
    name: "device poll, with a secret",
    run: async (target) => {
      const codes = await target.makeDeviceCodes(target.clientId);
      const polls = codes.map((code) => tokenRequest(target, { grant_type: DEVICE_CODE_GRANT, device_code: code }));
      return measureReads(target, 400, polls);
    },
  },
  {
    name: "authorize, stored consent",
    run: (target) => measure(target, 303, async () => repeat(BATCH, codeRequest(target))),
  },
];

const bare = await startBare();
const service = await startService();
let status = 1;
try {
  console.log(`ratio = requests/s of ${service.name} ÷ ${bare.name}; ${ROUNDS} rounds, 16 connections`);
  console.log("                             ratio   aim     ours/s    bare/s   p99 ms  CPU ms (bare)  statements");
  const baselines = new Map<string, Row>();
  for (const { name, aim, baseline, run } of measures.filter((each) => each.name.includes(ONLY))) {
    const theirs = (await run(bare)) ?? baselines.get(baseline ?? "");
    const ours = await run(service);
    if (!ours || !theirs) continue;
    baselines.set(name, theirs);
    const ratio = ours.requestsPerSecond / theirs.requestsPerSecond;
    const cells = [
      name.padEnd(27),
      ratio.toFixed(2).padStart(6),
      (aim === undefined ? "–" : `≥ ${aim}`).padStart(6),
      ours.requestsPerSecond.toFixed(0).padStart(9),
      theirs.requestsPerSecond.toFixed(0).padStart(9),
      ours.p99Ms.toFixed(1).padStart(8),
      `${ours.cpuMs.toFixed(2)} (${theirs.cpuMs.toFixed(2)})`.padStart(14),
      (ours.statements ?? 0).toFixed(2).padStart(10),
    ];
    console.log(cells.join(" "));
  }
  if ("device poll".includes(ONLY)) await pollAtPace(service);
  if ("git".includes(ONLY)) await benchGit(service);
  status = 0;
} catch (error) {
  console.error(error);
} finally {
  await service.stop();
  await bare.stop();
}
const others = {
  "lists of repositories": "repo-lists",
  "access decision": "access",
  "matching webhooks": "match",
  receivers: "receiver",
};
for (const [name, file] of Object.entries(others)) {
  if (status !== 0 || !name.includes(ONLY)) continue;
  status = spawnSync(process.execPath, [join(import.meta.dirname, `${file}.ts`)], { stdio: "inherit" }).status ?? 1;
}
process.exit(status);
