import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { domainOf, type EventPayload, type EventScope, eventDomains, eventPayloadSchema, eventScopes } from "@keyhook/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { operatorCommand } from "../access/actor.ts";
import { freshName, from, organizationOf, signedInPerson, type TestPerson } from "../accounts/testing/people.ts";
import { db } from "../db.ts";
import { env } from "../env.ts";
import { addComment, deleteComment, editComment, hideComment } from "../hub/discussions/comments.ts";
import { deleteDiscussion } from "../hub/discussions/delete-discussion.ts";
import { openDiscussion } from "../hub/discussions/open-discussion.ts";
import { changeTitle } from "../hub/discussions/properties.ts";
import { createPlatform } from "../hub/platforms/manage-platforms.ts";
import { findPresented, type PresentedPlatform } from "../hub/platforms/platform.ts";
import { syncRepos } from "../hub/platforms/sync-repos.ts";
import { takeEvents } from "../hub/platforms/take-events.ts";
import { deleteRepo } from "../hub/repos/change-repo.ts";
import { moveRepo } from "../hub/repos/move-repo.ts";
import { updateRepoSettings } from "../hub/repos/update-repo-settings.ts";
import { commitTo, someRepo } from "../hub/testing/repos.ts";

const DOCUMENT = join(import.meta.dirname, "../../docs/guides/events.md");
const EXAMPLE = /<!-- example: ([^\n]*) -->\n(?:\n?```json\n([\s\S]*?)\n```\n)?/g;

let payloads: EventPayload[];
let ada: TestPerson;
let organization: { name: string };

beforeAll(async () => {
  ada = await signedInPerson();
  organization = await organizationOf(ada);
  await actHere();
  await actOnPlatform();
  const rows = await db().event.findMany({ orderBy: [{ createdAt: "asc" }, { id: "asc" }] });
  payloads = rows.map(({ payload }) => payload as EventPayload);
});

async function actHere(): Promise<void> {
  const repo = await someRepo(ada, { type: "dataset", name: "tides" });
  const name = { type: "dataset", owner: ada.username, name: "tides" } as const;
  await commitTo(repo, ada, { "README.md": "---\ntags: [sea]\n---\n# Tides\n" });
  await updateRepoSettings(ada.actor, name, { isPrivate: true, description: "Of the sea" }, from);
  const { row } = await openDiscussion(ada.actor, repo, { title: "Neap tides", description: "They are missing." });
  const at = { repo: name, num: row.num };
  const { id } = await addComment(ada.actor, at, { comment: "So they are." });
  await editComment(ada.actor, at, id, { content: "So they were." });
  await hideComment(ada.actor, at, id, from);
  const more = await addComment(ada.actor, at, { comment: "And will be." });
  await deleteComment(ada.actor, at, more.id, from);
  await changeTitle(ada.actor, at, { title: "Spring tides" });
  await deleteDiscussion(ada.actor, at, from);
  await moveRepo(ada.actor, name, { owner: organization.name, name: "moons" }, from);
  await deleteRepo(ada.actor, { ...name, owner: organization.name, name: "moons" }, from);
}

async function actOnPlatform(): Promise<void> {
  const host = `${freshName("git")}.example`;
  const platform = await createPlatform(operatorCommand, { name: host, source: `https://${host}` }, from);
  const url = "https://git.example.com/ada/shores";
  const repo = { id: 7, type: "model", name: `${ada.username}/shores`, private: false, url };
  await syncRepos(platform, { repos: [repo] }, from);
  const event = (type: string, data: object) => ({ specversion: "1.0", id: type, source: platform.source, type, data });
  const presented = (await findPresented(platform.token)) as PresentedPlatform;
  const taken = await takeEvents(presented, [event("repo.update", { repo: { externalId: 7 } })]);
  expect(taken.map(({ status }) => status)).toEqual(["recorded"]);
}

const kindOf = ({ event }: EventPayload): string => `${event.scope} ${event.action}`;

function settled(all: EventPayload[]): Map<string, string> {
  const seen = new Map<string, string>();
  const stable = (hex: string) => {
    if (!seen.has(hex)) seen.set(hex, hash("sha1", `${hex.length} ${seen.size}`).slice(0, hex.length));
    return seen.get(hex) as string;
  };
  const examples = new Map<string, string>();
  for (const payload of all) {
    const text = JSON.stringify(eventPayloadSchema.parse(payload), null, 2)
      .replace(/\b([0-9a-f]{40}|[0-9a-f]{24})\b/g, stable)
      .replaceAll(env().ORIGIN, "https://hub.example.com")
      .replaceAll(ada.username, "ada")
      .replaceAll(organization.name, "tidepool");
    if (!examples.has(kindOf(payload))) examples.set(kindOf(payload), text);
  }
  return examples;
}

test("docs/guides/events.md shows each kind as it is recorded (UPDATE_EXAMPLES=1 writes it)", () => {
  const examples = settled(payloads);
  const before = readFileSync(DOCUMENT, "utf8");
  if (process.env.UPDATE_EXAMPLES === "1") {
    const shown = (kind: string) => `<!-- example: ${kind} -->\n\n\`\`\`json\n${examples.get(kind)}\n\`\`\`\n`;
    return writeFileSync(
      DOCUMENT,
      before.replace(EXAMPLE, (_, kind: string) => shown(kind)),
    );
  }
  const documented = [...before.matchAll(EXAMPLE)].map(([, kind, text]) => [kind, JSON.parse(text ?? "null")]);
  const made = [...examples].map(([kind, text]) => [kind, JSON.parse(text)]);
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(made));
});

describe("every event that was recorded", () => {
  test("matches the schema of packages/sdk, without further fields", () => {
    for (const payload of payloads) expect(eventPayloadSchema.parse(payload)).toEqual(payload);
  });

  test("contains headSha only if its scope begins with repo", () => {
    expect(payloads.filter(({ repo }) => repo.headSha).map(kindOf)).toContain("repo.config update");
    for (const payload of payloads)
      if (!payload.event.scope.startsWith("repo")) expect(payload.repo).not.toHaveProperty("headSha");
  });

  test("does not contain the text of a hidden comment", () => {
    const hidden = payloads.filter((payload) => "comment" in payload && payload.comment?.hidden);
    expect(hidden).toHaveLength(1);
    expect(JSON.stringify(hidden)).not.toContain("So they were.");
  });
});

test("each scope belongs to the domain that the document states", () => {
  const table = readFileSync(DOCUMENT, "utf8").matchAll(/^\| `(\w+)` +\| (.*) \|$/gm);
  const documented = Object.fromEntries(
    [...table].map(([, domain, scopes]) => [domain, [...(scopes ?? "").matchAll(/`([^`]+)`/g)].map(([, scope]) => scope)]),
  );
  expect(documented).toEqual(
    Object.fromEntries(
      eventDomains.map((domain) => [domain, eventScopes.filter((scope: EventScope) => domainOf(scope) === domain)]),
    ),
  );
});
