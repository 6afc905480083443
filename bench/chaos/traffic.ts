import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { createRepo } from "#core/hub/repos/create-repo.ts";
import { exchangeForm, prepareExchange } from "#core/oauth/testing/exchange.ts";
import { asApp, authorize, prepare, redemption, signIn } from "#core/oauth/testing/sign-in.ts";
import { type AnyWorld, worldAt } from "#core/oauth/testing/world.ts";
import { ask } from "./measure.ts";
import type { ChaosService } from "./service.ts";

type Client = Awaited<ReturnType<typeof prepare>>;
type Issued = { access_token: string; refresh_token?: string };

/** `accepted` counts how often the code or refresh token was accepted. */
type Spent = { client: Client; form: Record<string, string>; accepted: number };

export type Failure = {
  what: string;
  from: number;
  to: number;
  /** The action failed outside of the requests whose responses are examined. */
  isThrown: boolean;
};

type Options = {
  /** The failures that are allowed. Default: those with `isThrown`. */
  mayFail?: (failure: Failure) => boolean;
  actions?: Record<string, () => Promise<void>>;
};

const PAUSE_MS = 100;
/** The service keeps only the newest 200 tokens of a grant. */
const KEPT_TOKENS = 150;
const PEOPLE = 20;
/** How long a client repeats a request. A code is valid for a minute. */
const PATIENCE_MS = 50_000;
const run = promisify(execFile);

export async function prepareTraffic(
  service: ChaosService,
  { mayFail = ({ isThrown }) => isThrown, actions = {} }: Options = {},
) {
  const { origin } = service.running;
  const world = worldAt(origin);
  const traffic = { isOver: false, busy: 0, ambiguous: 0, failures: [] as Failure[], spent: [] as Spent[] };
  let tokens: { client: Client; token: string }[] = [];
  const note = (what: string, from: number, isThrown = false) =>
    void traffic.failures.push({ what, from, to: Date.now(), isThrown });
  const pushes = await preparePushes(service, world, (from, error) => note(`a push: ${error.message}`, from, true));
  const exchanging = await prepareExchange(world);
  const people: Client[] = [];
  while (people.length < PEOPLE) people.push(await prepare(world, { isConfidential: true }));
  // The refresh tokens of a public app rotate, so each can be used only once.
  const refreshing = await signIn(world, { isRefreshAllowed: true });

  async function untilAnswered(client: Client, form: Record<string, string>, spent?: Spent): Promise<Issued | undefined> {
    let isRepeated = false;
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await delay(PAUSE_MS)) {
      const from = Date.now();
      const response = await asApp(world, client.app, "/oauth/token", form).catch((error: Error) => error);
      if (response instanceof Error || isOfProxy(response)) {
        note(response instanceof Error ? "no answer" : `${response.status} from the proxy`, from);
        isRepeated = true;
        continue;
      }
      const body = (await response.json().catch(() => ({}))) as Issued;
      if (response.status === 503 && response.headers.has("retry-after")) {
        traffic.busy++;
        isRepeated = true;
        continue;
      }
      if (response.status === 200) {
        if (spent) spent.accepted++;
        tokens.push({ client, token: body.access_token });
        const ofClient = tokens.filter((each) => each.client === client);
        if (ofClient.length > KEPT_TOKENS) tokens.splice(tokens.indexOf(ofClient[0] as (typeof tokens)[number]), 1);
        return body;
      }
      if (response.status !== 400 || !isRepeated) note(`token endpoint: ${response.status}`, from);
      // An earlier request used the code or token, although its response was lost or a 503. This second use ended the grant.
      traffic.ambiguous++;
      tokens = tokens.filter((each) => each.client !== client);
      return undefined;
    }
    return undefined;
  }

  function spend(client: Client, form: Record<string, string>): Promise<Issued | undefined> {
    const spent = { client, form, accepted: 0 };
    traffic.spent.push(spent);
    return untilAnswered(client, form, spent);
  }

  let turn = 0;
  async function signInOnce(): Promise<void> {
    const person = people[turn++ % PEOPLE] as Client;
    await spend(person, redemption(await authorize(person)));
  }

  let refreshToken: string | undefined = refreshing.tokens.refresh_token;
  async function refreshOnce(): Promise<void> {
    refreshToken ??= (await spend(refreshing, redemption(await authorize(refreshing))))?.refresh_token;
    if (!refreshToken) return;
    const issued = await spend(refreshing, { grant_type: "refresh_token", refresh_token: refreshToken });
    refreshToken = issued?.refresh_token;
  }

  async function exchangeOnce(): Promise<void> {
    await untilAnswered(exchanging as unknown as Client, exchangeForm(exchanging.writer.email));
  }

  const counts = { "sign-ins": signInOnce, refreshes: refreshOnce, exchanges: exchangeOnce, pushes: pushes.push, ...actions };
  const done = new Map<string, number>();
  async function repeat(what: string, action: () => Promise<void>): Promise<void> {
    while (!traffic.isOver) {
      const from = Date.now();
      await action().then(
        () => void done.set(what, (done.get(what) ?? 0) + 1),
        (error: Error) => {
          note(`${what}: ${error.message}`, from, true);
          return delay(500);
        },
      );
      await delay(PAUSE_MS);
    }
  }

  return {
    repoId: pushes.repoId,
    start() {
      const running = Promise.all(Object.entries(counts).map(([what, action]) => repeat(what, action)));
      return async (): Promise<{ note: string; faults: string[] }> => {
        traffic.isOver = true;
        await running;
        const unexpected = traffic.failures.filter((failure) => !mayFail(failure));
        if (unexpected.length > 0) console.error(unexpected);
        const wrong = Map.groupBy(unexpected, ({ what }) => what);
        const faults = [...wrong].map(([what, { length }]) => `${length} × ${what}`);
        const lostTokens = await refusedOf(
          world,
          tokens.map(({ token }) => token),
        );
        if (lostTokens > 0) faults.push(`${lostTokens} confirmed tokens are not valid`);
        faults.push(...(await pushes.check()));
        // Used codes and tokens are tried last, because a second use ends the grant.
        for (const { client, form } of traffic.spent.filter(({ accepted }) => accepted > 0)) {
          const again = await asApp(world, client.app, "/oauth/token", form);
          if (again.status === 200) faults.push(`a used ${form.grant_type} was accepted again`);
        }
        const twice = traffic.spent.filter(({ accepted }) => accepted > 1).length;
        if (twice > 0) faults.push(`${twice} codes or refresh tokens were accepted twice`);
        const made = [...done].map(([what, count]) => `${count} ${what}`).join(", ");
        pushes.stop();
        const excused = traffic.failures.filter(mayFail).length;
        return {
          note: `${made}; ${excused} failed, ${traffic.busy} × 503, ${traffic.ambiguous} used without an answer`,
          faults,
        };
      };
    },
  };
}

/** The service's own 503 says when to try again. */
const isOfProxy = ({ status, headers }: Response): boolean => [502, 503, 504].includes(status) && !headers.has("retry-after");

async function refusedOf(world: AnyWorld, tokens: string[]): Promise<number> {
  let refused = 0;
  for (const token of tokens) {
    const { status } = await fetch(`${world.origin}/api/whoami-v2`, { headers: { authorization: `Bearer ${token}` } });
    if (status !== 200) refused++;
  }
  return refused;
}

async function preparePushes(service: ChaosService, world: AnyWorld, onFailure: (from: number, error: Error) => void) {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-traffic-"));
  const { person, tokens } = await signIn(world, { scopes: ["openid", "write-repos"] }, { scope: "openid write-repos" });
  const owner = person.username;
  const repo = await createRepo(operatorCommand, { type: "model", owner, name: "pushed" }, noOrigin);
  const env = {
    ...process.env,
    ...{ GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0" },
    ...{ GIT_AUTHOR_NAME: "Mara", GIT_AUTHOR_EMAIL: "mara@example.test" },
    ...{ GIT_COMMITTER_NAME: "Mara", GIT_COMMITTER_EMAIL: "mara@example.test" },
  };
  const git = async (...args: string[]) => (await run("git", ["-C", directory, ...args], { env })).stdout.trim();
  await git("init", "--quiet", "--initial-branch=main");
  const remote = Object.assign(new URL(`${service.running.origin}/${repo.fullName}`), {
    username: owner,
    password: tokens.access_token,
  });
  await git("remote", "add", "origin", remote.href);
  const confirmed: string[] = [];
  return {
    repoId: repo.id,
    async push(): Promise<void> {
      await git("commit", "--quiet", "--allow-empty", "-m", "tides");
      const commit = await git("rev-parse", "HEAD");
      // Repeats a push that failed. Otherwise the next push would contain this commit too, and both would be one event.
      for (let isPushed = false; !isPushed; ) {
        const from = Date.now();
        await git("push", "--quiet", "origin", `${commit}:refs/heads/pushed`).then(
          () => {
            isPushed = true;
          },
          (error: Error) => {
            onFailure(from, error);
            return delay(500);
          },
        );
      }
      confirmed.push(commit);
    },
    async check(): Promise<string[]> {
      const inRepository = new Set(
        (await git("fetch", "--quiet", "origin", "pushed").then(() => git("rev-list", "FETCH_HEAD"))).split("\n"),
      );
      const rows = await ask<{ sha: string }>(
        service,
        `select ref ->> 'newSha' as sha from event, jsonb_array_elements(payload::jsonb -> 'updatedRefs') as ref where repo_id = $1`,
        [repo.id],
      );
      const recorded = new Set(rows.map(({ sha }) => sha));
      const lost = confirmed.filter((commit) => !inRepository.has(commit));
      const silent = confirmed.filter((commit) => !recorded.has(commit));
      return [
        ...(lost.length > 0 ? [`${lost.length} confirmed pushes lost`] : []),
        ...(silent.length > 0 ? [`${silent.length} confirmed pushes without an event`] : []),
      ];
    },
    stop: () => rmSync(directory, { recursive: true, force: true }),
  };
}
