import { beforeEach, expect, test } from "vitest";
import { checkWorker } from "../../scripts/admin/doctor/network.ts";
import { operatorCommand } from "../access/actor.ts";
import { findSiteSession } from "../accounts/sessions/find-site-session.ts";
import { anotherSession, freshName, from, organizationOf, signedInPerson, staleActor } from "../accounts/testing/people.ts";
import { createPersonalAccessToken } from "../accounts/tokens/personal-access-tokens.ts";
import { endUserSessions } from "../accounts/users/disable-user.ts";
import { listUsers } from "../accounts/users/list-users.ts";
import { db, pool } from "../db.ts";
import { provideSettings } from "../env.ts";
import { newId, newOrderedId } from "../ids.ts";
import { RUNNER_REPORT_KEY } from "../jobs/runners/runner-report.ts";
import { listSigningKeys, loadSigningKeys, rotateKeys } from "../oauth/signing-keys.ts";
import { examineAddress } from "../outbound/parse-target.ts";
import { examineOutbound } from "./examine-outbound.ts";
import { countAlive, startHeartbeat } from "./heartbeat.ts";
import { inspectUser } from "./inspect-user.ts";
import { readEmailState, readMailState, retryMail, sendTestEmail } from "./mail.ts";
import { needsAttention } from "./needs-attention.ts";
import { readOverview } from "./read-overview.ts";

beforeEach(() => void provideSettings({ OUTBOUND_ALLOW_CIDRS: "" }));
const operator = await signedInPerson("opal", { isOperator: true });
const ada = await signedInPerson("ada");

test("S136 operators' data is refused to others, and operators' changes need recent authentication (S113)", async () => {
  const reads = [
    () => readOverview(ada.actor),
    () => listUsers(ada.actor),
    () => readMailState(ada.actor),
    () => readEmailState(ada.actor, newId()),
    () => retryMail(ada.actor),
    () => sendTestEmail(ada.actor, undefined, from),
    () => examineOutbound(ada.actor, "https://example.com"),
    () => listSigningKeys(ada.actor),
    () => rotateKeys(ada.actor, false, from),
  ];
  for (const read of reads) await expect(read()).rejects.toMatchObject({ code: "forbidden" });
  await expect(inspectUser(ada.actor, operator.id)).rejects.toMatchObject({ code: "not_found" });
  await expect(endUserSessions(ada.actor, operator.id, from)).rejects.toMatchObject({ code: "not_found" });
  const stale = { code: "reauthentication_required" };
  await expect(rotateKeys(staleActor(operator.actor), true, from)).rejects.toMatchObject(stale);
  await expect(endUserSessions(staleActor(operator.actor), ada.id, from)).rejects.toMatchObject(stale);
  for (const bad of ["\0", "x", newId()]) {
    await expect(inspectUser(operator.actor, bad)).rejects.toMatchObject({ code: "not_found" });
  }
});

test("the overview says why jobs and Spaces are off, unless the operator disabled them", async () => {
  const texts = async () => needsAttention(await readOverview(operator.actor)).map(({ text }) => text);
  const report = (value: object) =>
    db().setting.upsert({ where: { key: RUNNER_REPORT_KEY }, create: { key: RUNNER_REPORT_KEY, value }, update: { value } });
  await report({ refusal: "Jobs are off: install this." });
  expect(await texts()).toContain("Jobs are off: install this.");
  provideSettings({ JOBS_RUNNER: "off" });
  expect(await texts()).not.toContain("Jobs are off: install this.");
  provideSettings({ JOBS_RUNNER: "auto" });
  await report({ runner: "unsandboxed" });
  expect(await texts()).toContainEqual(expect.stringContaining("JOBS_RUNNER=unsandboxed"));
  await db().setting.delete({ where: { key: RUNNER_REPORT_KEY } });
});

test("a heartbeat whose measurements fail ends without an error", async () => {
  const heartbeat = startHeartbeat("worker", () => Promise.reject(new Error("no measurements")));
  await heartbeat.stop();
  expect(await countAlive()).toMatchObject({ worker: 0 });
});

test("the overview shows live processes, waiting work and problems", async () => {
  const empty = await readOverview(operator.actor);
  expect(needsAttention(empty).map(({ text }) => text)).toContainEqual(expect.stringContaining("No worker is running"));
  const [web, worker] = [startHeartbeat("web"), startHeartbeat("worker")];
  await expect.poll(async () => (await readOverview(operator.actor)).processes.length).toBe(2);
  await pool().query(
    "insert into process_heartbeat (id, kind, host, pid, version, seen_at) values ($1, 'worker', 'old', 1, '0.0.1', now() - interval '5 minutes')",
    [newId()],
  );
  const due = new Date(Date.now() - 20 * 60_000);
  await db().mail.create({ data: { id: newId(), recipient: "a@example.test", subject: "s", text: "t", createdAt: due } });
  provideSettings({ SMTP_URL: "smtps://mail.example:465", OUTBOUND_ALLOW_CIDRS: "0.0.0.0/0" });
  const overview = await readOverview(operator.actor);
  expect(overview.processes.map(({ kind, isSilent }) => [kind, isSilent])).toEqual([
    ["worker", false],
    ["worker", true],
    ["web", false],
  ]);
  expect(overview).toMatchObject({
    queues: { mail: { waiting: expect.any(Number), oldestAt: due } },
    disk: { totalBytes: expect.any(Number) },
  });
  expect(overview.database.sizeBytes).toBeGreaterThan(1_000_000);
  const texts = needsAttention(overview).map(({ text }) => text);
  expect(texts).toContainEqual(expect.stringMatching(/^(1 e-mail has|\d+ e-mails have) been waiting/));
  expect(texts).toContainEqual(expect.stringContaining("allows every address"));
  const { mail } = overview.queues;
  const ofOne = needsAttention({ ...overview, queues: { ...overview.queues, mail: { ...mail, failed: 1 } } });
  expect(ofOne.map(({ text }) => text)).toContain("1 e-mail could not be sent in the last 7 days.");
  expect(texts).not.toContainEqual(expect.stringContaining("No worker is running"));
  await db().mail.deleteMany({ where: { createdAt: due } });
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "" });
  const quiet = needsAttention(await readOverview(operator.actor)).filter(({ text }) => !/disk|connections/.test(text));
  expect(quiet).toEqual([]);
  expect(await countAlive()).toEqual({ web: 1, worker: 1 });
  await worker.stop();
  expect((await checkWorker())[0]).toMatchObject({ status: "fail" });
  await web.stop();
  expect((await checkWorker())[0]).toMatchObject({ status: "ok", found: "not running" });
  expect((await readOverview(operator.actor)).processes.map(({ host }) => host)).toEqual(["old"]);
  provideSettings({ SMTP_URL: "" });
});

test("the overview shows waiting and late work of webhooks and jobs, and how the last hour's attempts ended", async () => {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  const queued = (dueAt: Date | string, isClaimed = false) =>
    pool().query(
      `insert into delivery_queue (id, webhook_id, owner_id, event_id, host, kind, lane, due_at, claim_id, claimed_until)
       values ($1, 'overview', 'x', 'x', 'h', 'first', 1, $2, $3, now() + interval '1 minute' * $4)`,
      [newId(), dueAt, isClaimed ? "c" : null, isClaimed ? 1 : null],
    );
  const attempt = (outcome: string, at: Date) =>
    pool().query(
      `insert into attempt (id, delivery_id, webhook_id, owner_id, number, kind, started_at, outcome, total_ms)
       values ($1, 'overview', 'x', 'x', 1, 'first', $2, $3, 5)`,
      [newOrderedId(at.getTime()), at, outcome],
    );
  const event = {
    scope: "repo",
    action: "update",
    repoType: "model",
    repoId: newId(),
    ownerId: newId(),
    isPrivate: false,
    payload: {},
  };
  const before = await readOverview(operator.actor);
  await Promise.all([
    ...[queued(ago(20)), queued(ago(-5)), queued("infinity"), queued(ago(1), true)],
    ...[
      attempt("delivered", ago(1)),
      attempt("delivered", ago(50)),
      attempt("rejected", ago(2)),
      attempt("unreachable", ago(70)),
    ],
    db().event.create({ data: { id: newId(), ...event, createdAt: ago(3) } }),
    db().jobRun.create({
      data: { id: newId(), ownerId: "overview", ownerKind: "user", initiator: {}, spec: {}, stage: "SCHEDULING" },
    }),
  ]);
  const { work, attempts, ...rest } = await readOverview(operator.actor);
  expect(work).toEqual({
    relays: { listening: before.work.relays.listening, waiting: before.work.relays.waiting },
    events: { waiting: before.work.events.waiting + 1, oldestAt: expect.any(Date) },
    deliveries: {
      due: before.work.deliveries.due + 1,
      oldestDueAt: expect.any(Date),
      claimed: before.work.deliveries.claimed + 1,
      later: before.work.deliveries.later + 1,
      held: before.work.deliveries.held + 1,
    },
    runs: { waiting: before.work.runs.waiting + 1, running: before.work.runs.running },
    replays: before.work.replays,
  });
  const now = (outcome: "delivered" | "rejected" | "unreachable") =>
    (attempts.byOutcome[outcome] ?? 0) - (before.attempts.byOutcome[outcome] ?? 0);
  expect([now("delivered"), now("rejected"), now("unreachable")]).toEqual([2, 1, 0]);
  const texts = needsAttention({ work, attempts, ...rest }).map(({ text }) => text);
  expect(texts).toContainEqual(
    expect.stringMatching(/^(1 event has|\d+ events have) been waiting(, the oldest)? for over two minutes/),
  );
  expect(texts).toContainEqual(
    expect.stringMatching(/^(1 delivery has|\d+ deliveries have) been due(, the oldest)? for over 15 minutes/),
  );
  await pool().query("delete from delivery_queue where webhook_id = 'overview'");
  await db().event.deleteMany({ where: { repoId: event.repoId } });
  await db().jobRun.deleteMany({ where: { ownerId: "overview" } });
});

test("users are found with an index by the beginning of their name or address, taken literally", async () => {
  const stem = freshName("zoë").replace("ë", "e");
  const one = await signedInPerson(stem);
  await db().user.update({ where: { id: one.id }, data: { fullName: "100%_Zed \\ O'Neil" } });
  const ids = async (text: string) => (await listUsers(operator.actor, { text })).items.map(({ id }) => id);
  for (const text of [stem.toUpperCase(), one.email.slice(0, 12), "100%_zed \\", one.id, ` ${stem} `]) {
    expect(await ids(text), text).toContain(one.id);
  }
  for (const text of ["%", "_", "\\", "00%", "\0\0x", "' OR 1=1 --", "\ud800", "x".repeat(5_000)]) {
    expect(await ids(text), text).not.toContain(one.id);
  }
  expect((await listUsers(operator.actor, { page: Number.NaN, pageSize: -1 })).page).toBe(1);
  // The planner has to use the index even with few rows.
  await pool().query("set enable_seqscan = off");
  const { rows } = await pool().query<{ "QUERY PLAN": string }>(
    `explain select id from "user" u where lower(u.username) like 'ab%' or lower(u.full_name) like 'ab%' or lower(u.email_canonical) like 'ab%'`,
  );
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  for (const index of ["user_username_prefix", "user_full_name_prefix", "user_email_prefix"]) expect(plan).toContain(index);
  await pool().query("reset enable_seqscan");
});

test("an account page shows all apps and tokens with access in the user's name, without secrets", async () => {
  const bea = await signedInPerson("bea");
  const another = await anotherSession(bea.id);
  const org = await organizationOf(bea);
  const { token } = await createPersonalAccessToken(
    bea.actor,
    bea.id,
    { name: "laptop", scopes: ["read-repos"], expiresInDays: 1 },
    from,
  );
  const seen = await inspectUser(operator.actor, bea.id);
  expect(seen).toMatchObject({
    user: { username: bea.username, email: bea.email },
    organizations: [{ id: org.id, role: "admin" }],
    tokens: { total: 1, items: [{ name: "laptop", last4: token.slice(-4) }] },
    apps: { total: 0 },
  });
  expect(seen.sessions).toHaveLength(2);
  expect(JSON.stringify(seen)).not.toMatch(/hash/i);
  await endUserSessions(operator.actor, bea.id, from);
  for (const each of [bea.token, another.token]) expect(await findSiteSession(each)).toBeUndefined();
  expect(await db().auditEvent.findFirstOrThrow({ where: { type: "user.end_all_sessions" } })).toMatchObject({
    actorId: operator.id,
    subjectId: bea.id,
  });
  await expect(endUserSessions(operatorCommand, newId(), from)).rejects.toMatchObject({ code: "not_found" });
});

test("a test email goes to the operator's own address, and failed emails show their reason", async () => {
  provideSettings({ SMTP_URL: "smtps://keyhook:p%40ss@mail.example:465" });
  const { id, to } = await sendTestEmail(operator.actor, "elsewhere@example.test", from);
  expect(to).toBe(operator.email);
  expect(await readEmailState(operator.actor, id)).toEqual({ state: "waiting", recipient: operator.email, lastError: null });
  const later = new Date(Date.now() + 3600_000);
  await db().mail.update({ where: { id }, data: { attempts: 2, lastError: "421 busy", dueAt: later } });
  await db().mail.create({
    data: {
      id: newId(),
      recipient: "gone@example.test",
      subject: "s",
      text: "",
      failedAt: new Date(),
      lastError: "550 nobody",
      attempts: 1,
    },
  });
  const state = await readMailState(operator.actor);
  expect(state.transport).toEqual({ server: "mail.example:465", user: "keyhook", isSecure: true });
  expect(state.failing).toMatchObject([
    { lastError: "550 nobody", dueAt: null },
    { lastError: "421 busy", dueAt: later },
  ]);
  expect(JSON.stringify(state)).not.toMatch(/p@ss|p%40ss/);
  expect(await retryMail(operator.actor)).toBe(1);
  expect((await db().mail.findUniqueOrThrow({ where: { id } })).dueAt.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
  expect(await retryMail(operator.actor)).toBe(0);
  provideSettings({ SMTP_URL: "" });
  expect((await readMailState(operator.actor)).transport).toBeNull();
});

test("an outbound address is checked like a request, without a connection, and the result names the deciding range", async () => {
  const addresses = ["203.0.113.9", "10.1.2.3", "::ffff:10.0.0.1", "8.8.8.8", "2001:4860:4860::8888", "fe80::1", "2002:7f00:1::"];
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "10.1.0.0/16" });
  const examined = await examineAddress("https://hooks.example/in", async () => addresses);
  expect(examined).toMatchObject({ outcome: "resolved", host: "hooks.example", port: 443, isAllowed: false });
  if (examined.outcome !== "resolved") return;
  expect(examined.addresses.map(({ isAllowed, range }) => [isAllowed, range])).toEqual([
    [false, "203.0.113.0/24"],
    [true, "10.1.0.0/16"],
    [false, "10.0.0.0/8"],
    [true, null],
    [true, null],
    [false, "outside 2000::/3"],
    [false, "2002::/16"],
  ]);
  for (const bad of [
    "ftp://example.com",
    "https://user:pw@example.com",
    "no address",
    "x".repeat(3_000),
    "http://localhost.invalid/",
  ]) {
    expect((await examineOutbound(operator.actor, bad)).outcome, bad).toBe("refused");
  }
  expect(await examineOutbound(operator.actor, "http://127.1/")).toMatchObject({
    isAllowed: false,
    addresses: [{ range: "127.0.0.0/8" }],
  });
});

test("S107 signing keys are rotated, and withdrawn at once after a leak", async () => {
  await loadSigningKeys();
  expect((await listSigningKeys(operator.actor)).map(({ state }) => state)).toEqual(["signing", "signing"]);
  await rotateKeys(operator.actor, false, from);
  const rotated = await listSigningKeys(operator.actor);
  expect(rotated.map(({ state }) => state)).toEqual(["next", "next", "signing", "signing"]);
  expect(JSON.stringify(rotated)).not.toMatch(/jwk|"d"/i);
  await rotateKeys(operator.actor, true, from);
  expect((await listSigningKeys(operator.actor)).map(({ state }) => state)).toEqual([
    ...["signing", "signing"],
    ...["retired", "retired", "retired", "retired"],
  ]);
  expect(await db().auditEvent.count({ where: { type: "signing_key.rotate", actorId: operator.id } })).toBe(2);
});
