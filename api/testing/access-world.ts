import { type Scope, scopes } from "@keyhook/sdk";
import { operatorCommand } from "#core/access/actor.ts";
import { from, organizationOf, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { db } from "#core/db.ts";
import { createCollection } from "#core/hub/collections/change-collections.ts";
import type { Collection } from "#core/hub/collections/collection.ts";
import { openDiscussion } from "#core/hub/discussions/open-discussion.ts";
import { grantAccess } from "#core/hub/gates/decide-access-request.ts";
import { createRepo } from "#core/hub/repos/create-repo.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { updateRepoSettings } from "#core/hub/repos/update-repo-settings.ts";
import { commitTo } from "#core/hub/testing/repos.ts";
import {
  accessToken,
  exchangedTokens,
  type Grant,
  jobToken,
  makeApp,
  makeBoundApp,
  makeGrant,
  personalToken,
} from "./access-tokens.ts";

/** `unmet` lacks the second step that the organization requires. The gated repositories accepted `guest` and `accepted`. */
export const people = [
  "owner",
  "admin",
  "write",
  "maker",
  "contributor",
  "read",
  "guest",
  "unmet",
  "stranger",
  "accepted",
] as const;
type PersonName = (typeof people)[number];
/** A CI job that the repository `org-private` trusts. The job acts for no user. */
export type Who = PersonName | "job";

/** For `unadmitted`, the organization does not admit the app. `exchanged` has a token for the user's email address. */
export const hands = ["personal", "app", "app-without-org", "other-app", "unadmitted", "exchanged", "ci"] as const;
export type Hand = (typeof hands)[number];

/** `else-…` belong to another organization of the administrator. `…-by-bound` were created by the organization's own app. */
export const repoNames = [
  "own-public",
  "own-gated",
  "own-private",
  "own-private-by-app",
  "org-public",
  "org-gated",
  "org-private",
  "org-private-by-app",
  "org-private-by-bound",
  "org-private-by-maker",
  "admin-private",
  "else-private",
] as const;
export type RepoKey = (typeof repoNames)[number];

export const collectionNames = ["own-public", "own-private", "org-private", "admin-private", "else-private"] as const;
export type CollectionKey = (typeof collectionNames)[number];

const hubScopes = scopes.filter((scope) => /repos|collections|discussions/.test(scope));
export const scopeSets: readonly (readonly Scope[])[] = [
  scopes.filter((scope) => !hubScopes.includes(scope)),
  ...hubScopes.map((scope) => [scope]),
  ["write-discussions", "read-repos"],
  ["write-discussions", "contribute-repos"],
  ["write-discussions", "write-repos"],
  scopes,
];

export type TokenActor = { who: Who; hand: Hand; scopes: readonly Scope[]; token: string };

export type AccessWorld = {
  actors: TokenActor[];
  repos: Record<RepoKey, Repo>;
  collections: Record<CollectionKey, Collection>;
  handles: Handles;
};

type Handles = Record<"own" | "org" | "admin" | "else", string>;

/** @param origin of the service that exchanges email addresses for tokens @param sets of scopes, each for a token of each kind */
export async function makeAccessWorld(origin: string, sets = scopeSets): Promise<AccessWorld> {
  const person = Object.fromEntries(
    await Promise.all(people.map(async (who) => [who, await signedInPerson(who)] as const)),
  ) as Record<PersonName, TestPerson>;
  const { owner, admin, write, maker, contributor, read, guest, unmet } = person;
  const organization = await organizationOf(admin, [
    [write, "write"],
    [maker, "contributor"],
    [contributor, "contributor"],
    [read, "read"],
    [guest, "read"],
    [unmet, "write"],
  ]);
  const elsewhere = await organizationOf(admin);
  const [appId, otherAppId, unadmittedId] = [await makeApp(owner), await makeApp(owner), await makeApp(owner)];
  const bound = await makeBoundApp(organization.id);
  for (const who of people) if (who !== "unmet") await giveSecondStep(person[who]);
  const handles = { own: owner.username, org: organization.name, admin: admin.username, else: elsewhere.name };
  const repos = {} as Record<RepoKey, Repo>;
  for (const key of repoNames) {
    repos[key] = await makeRepo(key, {
      by: key.startsWith("own") ? owner : key.endsWith("maker") ? maker : admin,
      handle: handleOf(key, handles),
      clientId: key.endsWith("by-app") ? appId : key.endsWith("by-bound") ? bound.clientId : undefined,
    });
    if (!key.endsWith("gated")) continue;
    const { type, owner: of, name } = repos[key];
    for (const { username } of [person.accepted, guest])
      await grantAccess(operatorCommand, { type, owner: of.handle, name }, { user: username }, from);
  }
  const collections = {} as Record<CollectionKey, Collection>;
  for (const key of collectionNames) {
    const [by, handle] = [key.startsWith("own") ? owner : admin, handleOf(key, handles)];
    const input = { owner: handle, title: key, isPrivate: key.endsWith("private") };
    collections[key] = (await createCollection(by.actor, input, from)).collection;
  }
  const actors: TokenActor[] = [];
  for (const who of people) {
    const isMember = !["owner", "stranger", "accepted"].includes(who);
    const grant = (clientId: string, orgIds: string[]) => makeGrant(person[who], clientId, orgIds);
    const grants: Partial<Record<Hand, Grant>> = {
      app: await grant(appId, [organization.id]),
      ...(["owner", "admin", "accepted"].includes(who) && { "app-without-org": await grant(appId, []) }),
      ...(["owner", "admin"].includes(who) && { "other-app": await grant(otherAppId, [organization.id]) }),
      ...(["admin", "guest"].includes(who) && { unadmitted: await grant(unadmittedId, [organization.id]) }),
    };
    const exchanged = isMember ? await exchangedTokens(origin, bound, person[who], sets) : [];
    for (const [index, held] of sets.entries()) {
      const add = (hand: Hand, token: string) => actors.push({ who, hand, scopes: held, token });
      add("personal", await personalToken(person[who], held));
      for (const [hand, given] of Object.entries(grants) as [Hand, Grant][]) {
        if (hand === "other-app" && held.length <= 2 && !held.includes("contribute-repos")) continue;
        add(hand, await accessToken(person[who], given, held));
      }
      if (isMember) add("exchanged", exchanged[index] as string);
    }
  }
  actors.push({ who: "job", hand: "ci", scopes: [], token: await jobToken({ repoId: repos["org-private"].id }) });
  actors.push({ who: "accepted", hand: "ci", scopes: [], token: await jobToken({ userId: person.accepted.id }) });
  // The tokens must be older than the organization's requirements.
  await closeOrganization(organization.id, [appId, otherAppId]);
  return { actors, repos, collections, handles };
}

const handleOf = (key: string, handles: Handles): string => handles[key.split("-", 1)[0] as keyof Handles];

async function makeRepo(
  key: RepoKey,
  { by, handle, clientId }: { by: TestPerson; handle: string; clientId: string | undefined },
): Promise<Repo> {
  const isPrivate = key.includes("private");
  const made = await createRepo(by.actor, { type: "model", owner: handle, name: key, isPrivate }, from);
  await commitTo(made, by, { "a.txt": "a" });
  await openDiscussion(by.actor, made, { title: "High water?" });
  if (clientId) await db().repo.update({ where: { id: made.id }, data: { createdByClientId: clientId } });
  const name = { type: made.type, owner: handle, name: made.name };
  return updateRepoSettings(by.actor, name, key.endsWith("gated") ? { gated: "manual" } : {}, from);
}

async function closeOrganization(orgId: string, clientIds: string[]): Promise<void> {
  await db().organization.update({ where: { id: orgId }, data: { requiresSecondStep: true, appPolicy: "approved" } });
  await db().organizationApp.createMany({ data: clientIds.map((clientId) => ({ orgId, clientId, decision: "approved" })) });
}

async function giveSecondStep({ id: userId }: TestPerson): Promise<void> {
  await db().totp.create({ data: { userId, sealedSecret: Buffer.from("sealed"), confirmedAt: new Date() } });
}
