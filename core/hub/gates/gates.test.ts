import { beforeAll, describe, expect, it } from "vitest";
import { actorId, anonymous, type TokenHolder } from "../../access/actor.ts";
import { may } from "../../access/may.ts";
import {
  auditTrail,
  emailsTo,
  from,
  organizationOf,
  outcomes,
  signedInPerson,
  type TestPerson,
} from "../../accounts/testing/people.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import { db, pool } from "../../db.ts";
import { deadlock } from "../../testing/as-owner.ts";
import type { RepoName } from "../repos/find-repo.ts";
import { type Repo, repoResource } from "../repos/repo.ts";
import { updateRepoSettings } from "../repos/update-repo-settings.ts";
import { someRepo } from "../testing/repos.ts";
import {
  countAccessRequests,
  findOwnAccessRequest,
  listAccessRequests,
  listOwnAccessRequests,
  listReposWithRequests,
} from "./access-requests.ts";
import { askForAccess, withdrawAccessRequest } from "./ask-for-access.ts";
import { decideAccessRequest, GRANTS, grantAccess } from "./decide-access-request.ts";

let ada: TestPerson;
let grace: TestPerson;
beforeAll(async () => {
  [ada, grace] = await Promise.all([signedInPerson("ada"), signedInPerson("grace")]);
});

const nameOf = ({ type, owner, name }: Repo): RepoName => ({ type, owner: owner.handle, name });

async function gatedRepo(gated: "auto" | "manual" = "manual", input: Parameters<typeof someRepo>[1] = {}): Promise<Repo> {
  const repo = await someRepo(ada, input);
  return updateRepoSettings(ada.actor, nameOf(repo), { gated }, from);
}

const reads = ({ actor }: TestPerson, repo: Repo) => may(actor, "repo.read_content", repoResource(repo));
const ask = (person: TestPerson, repo: Repo, message?: string) =>
  askForAccess(person.actor, nameOf(repo), message === undefined ? {} : { message }, from);
const decide = (repo: Repo, status: string, { by = ada, about = grace, reason = "" } = {}) =>
  decideAccessRequest(by.actor, nameOf(repo), { user: about.username, status, rejectionReason: reason }, from);

describe("a manual gate", () => {
  it("gives accepted users access until it is removed", async () => {
    const repo = await gatedRepo();
    expect(await reads(grace, repo)).toBe(false);
    expect(await ask(grace, repo, "For my thesis.\nPlease.")).toBe("pending");
    expect(await reads(grace, repo)).toBe(false);
    await decide(repo, "accepted");
    expect(await reads(grace, repo)).toBe(true);
    await decide(repo, "rejected", { reason: "Only members of the project." });
    expect(await reads(grace, repo)).toBe(false);
    expect(await findOwnAccessRequest(grace.actor, repo)).toMatchObject({
      status: "rejected",
      rejectionReason: "Only members of the project.",
    });
    await decide(repo, "pending");
    expect(await findOwnAccessRequest(grace.actor, repo)).toMatchObject({ status: "pending", rejectionReason: null });
    expect(await auditTrail({ subjectId: grace.id })).toEqual(
      expect.arrayContaining(["access_request.ask", "access_request.accept", "access_request.reject", "access_request.reopen"]),
    );
  });

  it("notifies the owner and the requester by email", async () => {
    const repo = await gatedRepo();
    await ask(grace, repo, "Hello.\r\n-- \nYour service");
    const [asked] = await emailsTo(ada.email);
    expect(asked?.subject).toBe(`${grace.username} requests access to ${repo.fullName}`);
    expect(asked?.text).toContain(`http://localhost:3000/${repo.fullName}/settings/access`);
    expect(asked?.text).toContain("> Hello.\n> -- \n> Your service");
    await decide(repo, "rejected", { reason: "Not\nnow" });
    const [rejected] = await emailsTo(grace.email);
    expect(rejected?.text).toContain("Reason: Not now");
    await decide(repo, "accepted");
    expect((await emailsTo(grace.email))[0]?.subject).toBe(`You have access to ${repo.fullName}`);
  });

  it("notifies each administrator and the repository's creator once", async () => {
    const [reader, maker] = await Promise.all([signedInPerson("reader"), signedInPerson("maker")]);
    const organization = await organizationOf(ada, [
      [reader, "read"],
      [maker, "contributor"],
    ]);
    const made = await someRepo(maker, { owner: organization.name });
    const repo = await updateRepoSettings(maker.actor, nameOf(made), { gated: "manual" }, from);
    await ask(grace, repo);
    const awaited = await listReposWithRequests(ada.actor, organization.id);
    expect(awaited).toMatchObject([{ repo: { fullName: repo.fullName }, waiting: 1 }]);
    await expect(listReposWithRequests(maker.actor, organization.id)).rejects.toMatchObject({ code: "forbidden" });
    const subject = `${grace.username} requests access to ${repo.fullName}`;
    for (const { email } of [ada, maker]) {
      expect((await emailsTo(email)).filter((message) => message.subject === subject)).toHaveLength(1);
    }
    expect(await emailsTo(reader.email)).toEqual([]);
    await expect(ask(reader, repo)).rejects.toMatchObject({ code: "conflict" });
  });

  it("gets one request and one email if a user asks several times at once", async () => {
    const repo = await gatedRepo();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(grace, repo)));
    expect(answers).toEqual(Array(8).fill("pending"));
    expect(await countAccessRequests(repo)).toEqual({ pending: 1, accepted: 0, rejected: 0 });
    const messages = (await emailsTo(ada.email)).filter(({ subject }) => subject.endsWith(repo.fullName));
    expect(messages).toHaveLength(1);
  });

  it("accepts one of several equal decisions", async () => {
    const repo = await gatedRepo();
    await ask(grace, repo);
    expect(await outcomes(Array.from({ length: 5 }, () => decide(repo, "accepted")))).toEqual([
      ...Array(4).fill("conflict"),
      "ok",
    ]);
  });

  it("stays closed to rejected users who ask again", async () => {
    const repo = await gatedRepo();
    await ask(grace, repo);
    const emailSeen = async (status: "pending" | "rejected") =>
      (await listAccessRequests(ada.actor, nameOf(repo), { status })).items.map(({ user }) => user.email);
    expect(await emailSeen("pending")).toEqual([grace.email]);
    await decide(repo, "rejected");
    expect(await emailSeen("rejected"), "a rejected user's current address is not shared").toEqual([null]);
    await expect(ask(grace, repo)).rejects.toMatchObject({ code: "forbidden" });
    await expect(withdrawAccessRequest(grace.actor, repo.id, from)).rejects.toMatchObject({ code: "conflict" });
    expect(await findOwnAccessRequest(grace.actor, repo)).toMatchObject({ status: "rejected" });
  });
});

describe("an automatic gate", () => {
  it("gives access to every user who asks, without an email", async () => {
    const repo = await gatedRepo("auto");
    const before = (await emailsTo(ada.email)).length;
    expect(await reads(grace, repo)).toBe(false);
    expect(await ask(grace, repo)).toBe("accepted");
    expect(await reads(grace, repo)).toBe(true);
    expect(await emailsTo(ada.email)).toHaveLength(before);
    await decide(repo, "rejected");
    expect(await reads(grace, repo)).toBe(false);
    await expect(ask(grace, repo)).rejects.toMatchObject({ code: "forbidden" });
  });
});

describe("access", () => {
  it("can be granted without a request, and the user's email address stays hidden", async () => {
    const repo = await gatedRepo();
    await grantAccess(ada.actor, nameOf(repo), { user: grace.username.toUpperCase() }, from);
    expect(await reads(grace, repo)).toBe(true);
    const { items } = await listAccessRequests(ada.actor, nameOf(repo), { status: "accepted" });
    expect(items).toMatchObject([{ user: { username: grace.username, email: null }, status: "accepted" }]);
    await expect(grantAccess(ada.actor, nameOf(repo), { userId: grace.id }, from)).rejects.toMatchObject({
      code: "invalid_request",
      field: "user",
    });
    await decide(repo, "rejected");
    const { items: rejected } = await listAccessRequests(ada.actor, nameOf(repo), { status: "rejected" });
    expect(rejected[0]?.user.email).toBeNull();
    for (const user of ["nobody-at-all", "a\0b", repo.owner.id]) {
      await expect(grantAccess(ada.actor, nameOf(repo), { user }, from)).rejects.toMatchObject({ code: "not_found" });
    }
  });

  it("is announced to a user who never asked for it", async () => {
    const [repo, guest] = [await gatedRepo(), await signedInPerson("guest")];
    await grantAccess(ada.actor, nameOf(repo), { userId: guest.id }, from);
    for (const status of ["rejected", "accepted"]) {
      await decideAccessRequest(ada.actor, nameOf(repo), { userId: guest.id, status }, from);
    }
    const [again, removed, granted] = await emailsTo(guest.email);
    for (const { text } of [granted, again].map((message) => message ?? { text: "" }))
      expect(text).toContain("You were given access: you can");
    expect(removed?.text).toContain("have removed your access");
  });

  it("is announced for a private repository when the repository becomes public", async () => {
    const [repo, guest] = [await gatedRepo(), await signedInPerson("guest")];
    await updateRepoSettings(ada.actor, nameOf(repo), { isPrivate: true }, from);
    await grantAccess(ada.actor, nameOf(repo), { userId: guest.id }, from);
    expect((await emailsTo(guest.email))[0]?.text).toContain("once it is public");
  });

  it("can be given up, and a request can be withdrawn", async () => {
    const repo = await gatedRepo();
    await ask(grace, repo);
    await withdrawAccessRequest(grace.actor, repo.id, from);
    expect(await findOwnAccessRequest(grace.actor, repo)).toBeUndefined();
    await ask(grace, repo);
    await decide(repo, "accepted");
    await withdrawAccessRequest(grace.actor, repo.id, from);
    expect(await reads(grace, repo)).toBe(false);
    await expect(withdrawAccessRequest(grace.actor, repo.id, from)).rejects.toMatchObject({ code: "not_found" });
    await expect(withdrawAccessRequest(grace.actor, "../x", from)).rejects.toMatchObject({ code: "not_found" });
  });

  it("S135 can be given only by those who manage the repository", async () => {
    const [reader, writer] = await Promise.all([signedInPerson("reader"), signedInPerson("writer")]);
    const organization = await organizationOf(ada, [
      [reader, "read"],
      [writer, "write"],
    ]);
    const repo = await gatedRepo("manual", { owner: organization.name });
    await ask(grace, repo);
    for (const by of [reader, grace]) {
      await expect(decide(repo, "accepted", { by })).rejects.toMatchObject({ code: "forbidden" });
      await expect(grantAccess(by.actor, nameOf(repo), { user: grace.username }, from)).rejects.toMatchObject({
        code: "forbidden",
      });
      await expect(listAccessRequests(by.actor, nameOf(repo), { status: "pending" })).rejects.toMatchObject({
        code: "forbidden",
      });
    }
    await decide(repo, "accepted", { by: writer });
    expect(await reads(grace, repo)).toBe(true);
  });

  it("S136 cannot be requested for a hidden repository or one without a gate", async () => {
    const hidden = await someRepo(ada, { isPrivate: true });
    await updateRepoSettings(ada.actor, nameOf(hidden), { gated: "manual" }, from);
    await expect(ask(grace, hidden)).rejects.toMatchObject({ code: "not_found" });
    const open = await someRepo(ada);
    await expect(ask(grace, open)).rejects.toMatchObject({ code: "invalid_request" });
    await expect(grantAccess(ada.actor, nameOf(open), { user: grace.username }, from)).rejects.toMatchObject({
      code: "invalid_request",
    });
    await expect(askForAccess(anonymous, nameOf(await gatedRepo()), {}, from)).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("cannot be requested by a program, which would share a user's email address", async () => {
    const repo = await gatedRepo();
    const token: TokenHolder = {
      kind: "token",
      tokenId: "a token",
      userId: grace.id,
      scopes: ["gated-repos", "write-repos"],
      orgIds: "all",
      clientId: null,
    };
    await expect(askForAccess(token, nameOf(repo), {}, from)).rejects.toMatchObject({ code: "forbidden" });
    await ask(grace, repo);
    await expect(withdrawAccessRequest({ ...token, scopes: ["read-repos"] }, repo.id, from)).rejects.toMatchObject({
      code: "not_found",
    });
    await withdrawAccessRequest(token, repo.id, from);
    expect(await findOwnAccessRequest(grace.actor, repo)).toBeUndefined();
  });

  it("to a repository that the user can no longer see is listed without its name", async () => {
    const alan = await signedInPerson("alan");
    const [seen, hidden] = [await gatedRepo(), await gatedRepo()];
    await ask(alan, seen);
    await ask(alan, hidden);
    await updateRepoSettings(ada.actor, nameOf(hidden), { isPrivate: true }, from);
    const { items, total } = await listOwnAccessRequests(alan.actor);
    expect(total).toBe(2);
    expect(items.map(({ repo }) => repo?.fullName ?? null)).toEqual([null, seen.fullName]);
    await withdrawAccessRequest(alan.actor, hidden.id, from);
    expect((await listOwnAccessRequests(alan.actor)).total).toBe(1);
    await withdrawAccessRequest(alan.actor, seen.id, from);
    const where = { type: "access_request.withdraw", subjectId: alan.id };
    const entries = await db().auditEvent.findMany({ where, orderBy: [{ createdAt: "asc" }, { id: "asc" }] });
    expect(entries.map(({ data }) => (data as { repo?: string }).repo ?? null)).toEqual([null, seen.fullName]);
  });

  it("S138 cannot be requested or decided with invalid input", async () => {
    const repo = await gatedRepo();
    for (const message of ["a\0b", "\ud800", "x".repeat(1_001)]) {
      await expect(ask(grace, repo, message)).rejects.toMatchObject({ code: "invalid_request", field: "message" });
    }
    await ask(grace, repo);
    await expect(decide(repo, "maybe")).rejects.toMatchObject({ code: "invalid_request", field: "status" });
    await expect(decide(repo, "rejected", { reason: "x".repeat(1_001) })).rejects.toMatchObject({ field: "rejectionReason" });
    await expect(decide(repo, "accepted", { about: ada })).rejects.toMatchObject({ code: "not_found" });
    expect(await countAccessRequests(repo)).toEqual({ pending: 1, accepted: 0, rejected: 0 });
    expect(await db().accessRequest.count({ where: { repoId: repo.id } })).toBe(1);
  });
});

it("S137 a repeated request or decision takes one connection and is not counted", async () => {
  const [repo, late] = [await gatedRepo(), await signedInPerson("late")];
  for (let round = 0; round < 3; round++) {
    const asked = Array.from({ length: 20 }, () => ask(late, repo));
    expect(new Set(await outcomes(asked))).toEqual(new Set(["ok"]));
  }
  await decide(repo, "accepted", { about: late });
  for (let round = 0; round < 3; round++) {
    const decided = Array.from({ length: 12 }, () => decide(repo, "accepted", { about: late }));
    expect(new Set(await outcomes(decided))).toEqual(new Set(["conflict"]));
  }
  await grantAccess(ada.actor, nameOf(repo), { user: (await signedInPerson("another")).username }, from);
});

it("S137 a user has at most 1,000 requests", async () => {
  const [repo, person] = [await gatedRepo(), await signedInPerson()];
  await pool().query(
    `INSERT INTO repo (id, type, owner_id, owner_kind, name, name_canonical, tags, gated)
     SELECT left(md5($1 || n), 24), 'model', $1, 'user', 'gated-' || n, 'gated-' || n, '{}', 'auto' FROM generate_series(1, 1000) n`,
    [ada.id],
  );
  await pool().query(
    "INSERT INTO access_request (id, repo_id, user_id, status) SELECT id, id, $2, 'accepted' FROM repo WHERE owner_id = $1 AND name LIKE 'gated-%'",
    [ada.id, person.id],
  );
  await expect(ask(person, repo)).rejects.toMatchObject({ code: "conflict" });
  const one = await db().accessRequest.findFirstOrThrow({ where: { userId: person.id } });
  await withdrawAccessRequest(person.actor, one.repoId, from);
  expect(await ask(person, repo)).toBe("pending");
  await db().accessRequest.updateMany({ where: { userId: person.id }, data: { hasAsked: false } });
  expect(await ask(person, await gatedRepo())).toBe("pending");
});

it("a request and its withdrawal that deadlock with other changes are repeated", async () => {
  const [asker, repo] = [await signedInPerson(), await gatedRepo()];
  const [first, last] = ["lock access_request in share mode", `select from repo where id = '${repo.id}' for update`];
  expect(await deadlock(first, () => ask(asker, repo), last)).toBe("pending");
  await deadlock(first, () => withdrawAccessRequest(asker.actor, repo.id, from), last);
  expect(await findOwnAccessRequest(asker.actor, repo)).toBeUndefined();
});

it("S56 changing a decision back and forth cannot fill a mailbox", async () => {
  const [repo, victim] = [await gatedRepo(), await signedInPerson("victim")];
  await grantAccess(ada.actor, nameOf(repo), { user: victim.username }, from);
  const before = (await emailsTo(victim.email)).length;
  const codes: string[] = [];
  for (let at = 0; at < 30; at++) {
    await decide(repo, at % 2 === 0 ? "rejected" : "accepted", { about: victim }).catch(({ code }) => codes.push(code));
  }
  expect((await emailsTo(victim.email)).length).toBe(20);
  expect(before).toBe(1);
  expect(new Set(codes)).toContain("rate_limited");
  await ask(grace, repo);
  await decide(repo, "accepted");
});

it("S56 one account can grant unrequested access to a limited number of users a day", async () => {
  const sender = await signedInPerson();
  const repo = await updateRepoSettings(sender.actor, nameOf(await someRepo(sender)), { gated: "manual" }, from);
  const key = throttleKey("access-grant", actorId(sender.actor) as string);
  for (let at = 1; at < GRANTS.limit; at++) await consumeThrottle(key, GRANTS);
  const grant = (user: TestPerson) => grantAccess(sender.actor, nameOf(repo), { user: user.username }, from);
  await grant(grace);
  await expect(grant(grace)).rejects.toMatchObject({ code: "rate_limited" });
  await expect(grant(ada)).rejects.toMatchObject({ code: "rate_limited" });
  await ask(ada, repo);
  await decideAccessRequest(sender.actor, nameOf(repo), { user: ada.username, status: "accepted" }, from);
});

it("S56 asking and withdrawing repeatedly cannot fill an owner's mailbox", async () => {
  const [repo, eager] = [await gatedRepo(), await signedInPerson("eager")];
  const before = (await emailsTo(ada.email)).length;
  for (let at = 0; at < 20; at++) {
    await ask(eager, repo);
    await withdrawAccessRequest(eager.actor, repo.id, from);
  }
  await expect(ask(eager, await gatedRepo())).rejects.toMatchObject({ code: "rate_limited" });
  expect((await emailsTo(ada.email)).length - before).toBe(20);
  await ask(eager, await updateRepoSettings(grace.actor, nameOf(await someRepo(grace)), { gated: "manual" }, from));
});
