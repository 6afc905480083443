import { mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { db } from "#core/db.ts";
import { versions } from "./chaos/service.ts";
import { signInByForm } from "./chaos/sign-in-by-form.ts";
import { cpuSeconds, threadSeconds } from "./cost.ts";
import { addPlatform, eventRequests, type Receiver, startCounting, untilFannedOut } from "./events.ts";
import { preparePushes } from "./git.ts";
import { load, type Prepared } from "./load.ts";
import { startPlainSender } from "./plain-sender.ts";
import { bearerRequests, codeExchanges, codeRequest, introspections, refreshes, tokenExchanges } from "./requests.ts";
import { inLanes, type ServiceTarget, startService } from "./targets.ts";

/** `npm run bench -- scale [ROUNDS]`: the CPU time of one operation of each kind. A plain sender makes machines comparable. */
const USE = 0.6;
const CORES = [1, 2, 4, 8, 16];
const PEOPLE = [50, 500, 5_000];
/** The operations in the busiest minute, as a multiple of those in an average minute of the busiest hour. */
const PEAK = 3;
const PLATFORMS = 10;
const EVENT = "event published";
const DELIVERED = "event published, delivered once";

/** CPU seconds, and the time in which they were used. `thread` is the main thread of `web`. */
const PARTS = ["web", "thread", "worker", "database", "seconds"] as const;
type Cpu = Record<(typeof PARTS)[number], number>;
const each = (value: (part: keyof Cpu) => number) => Object.fromEntries(PARTS.map((part) => [part, value(part)])) as Cpu;
type Pids = Record<"web" | "worker" | "database", number>;
type Operation = {
  name: string;
  /** How often a member of a team does this in the busiest hour. The numbers are assumptions. */
  perHour: number;
  count: number;
  prepare(count: number): Promise<() => Promise<unknown>>;
};
type Row = Pick<Operation, "name" | "perHour"> & { cpu: Cpu; rounds: Cpu[] };

const totalOf = ({ web, worker, database }: Cpu): number => web + worker + database;

export async function benchScale(rounds: number): Promise<void> {
  const machine = `${cpus().length} × ${cpus()[0]?.model}, load average ${loadavg()[0]?.toFixed(1)}`;
  console.log(`${new Date().toISOString()}, ${machine}, ${versions()}, ${rounds} rounds`);
  const receiver = await startCounting();
  const directory = mkdtempSync(join(tmpdir(), "keyhook-scale-"));
  try {
    const baseline = await measurePlainSender(receiver, rounds);
    const rows: Row[] = [];
    const service = await startService({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1", WEBHOOK_TRIGGERS_PER_DAY: "10000000" });
    const { pidOf } = service.running;
    const pids = { web: pidOf("server.ts"), worker: pidOf("worker/index.ts"), database: pidOf("database") };
    let idle: Cpu;
    try {
      // The idle use is measured first. After the operations, maintenance of the pushed repositories would count as idle use.
      await delay(15_000);
      idle = await usedBy(pids, () => delay(15_000));
      for (const operation of await operationsOf(service, receiver, directory)) rows.push(await measure(operation, pids, rounds));
    } finally {
      await service.stop();
    }
    const percent = (part: keyof Cpu) => `${part} ${((idle[part] / idle.seconds) * 100).toFixed(1)} %`;
    console.log(
      `at the end load average ${loadavg()[0]?.toFixed(1)}; idle, subtracted below: ${percent("web")}, ${percent("worker")}, ${percent("database")} of a core\n`,
    );
    print([baseline, ...rows.map((row) => withoutIdle(row, idle))]);
  } finally {
    receiver.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measurePlainSender({ url, deliver }: Receiver, rounds: number): Promise<Row> {
  const plain = await startPlainSender(url);
  const platform = { source: "https://bench.example", token: "" };
  const prepare = async (count: number) => deliver.bind(null, plain.origin, eventRequests([platform], count));
  const operation = { name: "plain sender: event stored, delivered once", perHour: 0, count: 500, prepare };
  return measure(operation, plain.pids, rounds).finally(() => plain.stop());
}

async function operationsOf(service: ServiceTarget, { url, deliver }: Receiver, directory: string): Promise<Operation[]> {
  const { origin, paths, userId } = service;
  const platforms = (hook?: string) => Promise.all(Array.from({ length: PLATFORMS }, () => addPlatform(userId, hook)));
  const [unwatched, watched] = [await platforms(), await platforms(url)];
  const push = await preparePushes(service, directory, 4, 1_000_000);
  const sent = (make: (count: number) => Promise<Prepared[]>, status = 200) => {
    return async (count: number) => load.bind(null, origin, await make(count), status);
  };
  // The service keeps only the newest tokens of a user.
  const inTurn = (requests: Prepared[], count: number) =>
    Array.from({ length: count }, (_, nth) => requests[nth % requests.length] as Prepared);
  const userinfo = sent(async (count) => inTurn(await bearerRequests(service, paths.userinfo), count));
  const introspection = sent(async (count) => inTurn(await introspections(service), count));
  const exchange = sent(async (count) => inTurn(tokenExchanges(service, "profile"), count));
  // The account's page lists the user's sessions, so those of earlier rounds are removed.
  const signIns = async (count: number) => {
    await db().siteSession.deleteMany({ where: { userId, ip: { not: null } } });
    return () => inLanes(count, () => signInByForm(origin), 2);
  };
  const deliveries = async (count: number) => deliver.bind(null, origin, eventRequests(watched, count));
  const fannedOut = (prepare: Operation["prepare"]) => async (count: number) => {
    const run = await prepare(count);
    return () => run().then(untilFannedOut);
  };
  return [
    { name: "sign-in by password, with two pages", perHour: 0.5, count: 15, prepare: signIns },
    {
      name: "authorization, stored consent",
      perHour: 2,
      count: 100,
      prepare: sent(async (n) => inTurn([codeRequest(service)], n), 303),
    },
    { name: "code exchange", perHour: 2, count: 50, prepare: sent((count) => codeExchanges(service, count)) },
    { name: "refresh", perHour: 4, count: 100, prepare: sent((count) => refreshes(service, count)) },
    { name: "userinfo", perHour: 4, count: 1_000, prepare: userinfo },
    { name: "introspection", perHour: 60, count: 1_000, prepare: introspection },
    { name: "token exchange", perHour: 10, count: 500, prepare: exchange },
    // A delivery alone may cost too little to be measured, so 60 events with two deliveries count as 120 with one.
    { name: EVENT, perHour: 0, count: 1_000, prepare: fannedOut(sent(async (n) => eventRequests(unwatched, n))) },
    { name: DELIVERED, perHour: 120, count: 1_000, prepare: deliveries },
    { name: "push of 1 MB", perHour: 4, count: 12, prepare: fannedOut(push) },
  ];
}

async function measure({ name, perHour, count, prepare }: Operation, pids: Pids, rounds: number): Promise<Row> {
  await (await prepare(count))();
  const measured: Cpu[] = [];
  while (measured.length < rounds) {
    const cpu = await usedBy(pids, await prepare(count));
    measured.push(each((part) => cpu[part] / count));
  }
  return rowOf({ name, perHour }, measured);
}

const rowOf = (operation: Pick<Operation, "name" | "perHour">, rounds: Cpu[]): Row => {
  return { ...operation, rounds, cpu: each((part) => rounds.reduce((sum, cpu) => sum + cpu[part], 0) / rounds.length) };
};

async function usedBy(pids: Pids, run: () => Promise<unknown>): Promise<Cpu> {
  const before = await usedSoFar(pids);
  await run();
  const after = await usedSoFar(pids);
  return each((part) => after[part] - before[part]);
}

async function usedSoFar({ web, worker, database }: Pids): Promise<Cpu> {
  await delay(500);
  const cpu = { web: cpuSeconds(web), thread: threadSeconds(web), worker: cpuSeconds(worker), database: cpuSeconds(database) };
  return { ...cpu, seconds: performance.now() / 1_000 };
}

/** Subtracts the work of an idle service. On a busy machine a round takes longer, and contains more of this work. */
function withoutIdle(row: Row, idle: Cpu): Row {
  const without = (cpu: Cpu) => each((part) => Math.max(0, cpu[part] - (idle[part] * cpu.seconds) / idle.seconds));
  return rowOf(row, row.rounds.map(without));
}

/** The difference is measurable only if the rounds of the two do not overlap. */
function costOfDelivery(rows: Row[]): string {
  const [published, delivered] = [EVENT, DELIVERED].map((name) => rows.find((row) => row.name === name) as Row) as [Row, Row];
  const highest = Math.max(...published.rounds.map(totalOf));
  const lowest = Math.min(...delivered.rounds.map(totalOf));
  return lowest > highest ? `${ms(totalOf(delivered.cpu) - totalOf(published.cpu))} ms` : "not measurable";
}

const ms = (seconds: number): string => (seconds * 1_000).toFixed(2);

function print(rows: Row[]): void {
  const cells = rows.map(({ name, cpu, rounds }) => {
    const totals = rounds.map(totalOf).sort((a, b) => a - b);
    const range = `${ms(totals[0] ?? 0)} to ${ms(totals.at(-1) ?? 0)}`;
    return [name, ms(totalOf(cpu)), range, ms(cpu.web), ms(cpu.thread), ms(cpu.worker), ms(cpu.database)];
  });
  table(["CPU of one operation, ms", "in all", "rounds", "web", "its main thread", "worker", "database"], cells);
  console.log(`a delivery, without its event: ${costOfDelivery(rows)}\n`);
  const short = (value: number) => String(Number(value.toPrecision(2)));
  const carried = rows.map(({ name, cpu }) => {
    return [name, ...CORES.map((cores) => short((cores * USE) / totalOf(cpu))), short(USE / cpu.thread)];
  });
  table([`a second at ${USE * 100} % use of N cores`, ...CORES.map(String), "a web process"], carried);
  const teams = PEOPLE.map((people) => {
    const perSecond = (row: Row) => (row.perHour * people * PEAK) / 3_600;
    const cores = (pick: (cpu: Cpu) => number) => rows.reduce((sum, row) => sum + perSecond(row) * pick(row.cpu), 0);
    const parts = [(cpu: Cpu) => cpu.web, (cpu: Cpu) => cpu.worker, (cpu: Cpu) => cpu.database, totalOf].map(cores);
    const processes = [cores(({ thread }) => thread), cores(({ worker }) => worker)].map((each) => Math.ceil(each / USE));
    return [people, short(cores(() => 1)), ...parts.map((each) => each.toFixed(2)), short(cores(totalOf) / USE), ...processes];
  });
  const cores = `cores at ${USE * 100} %`;
  table(["people", "operations/s", "web", "worker", "database", "in all", cores, "web processes", "workers"], teams);
}

function table(head: string[], rows: (string | number)[][]): void {
  const lines = [head, head.map((_, column) => (column === 0 ? "---" : "--:")), ...rows];
  console.log(`${lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`);
}
