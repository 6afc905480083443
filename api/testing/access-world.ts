import { type Scope, scopes } from "@keyhook/sdk";
import { operatorCommand } from "#core/access/actor.ts";
import { from, organizationOf, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { hashToken, newToken } from "#core/crypto/token.ts";
import { db } from "#core/db.ts";
import { createCollection } from "#core/hub/collections/create-collection.ts";
import { openDiscussion } from "#core/hub/discussions/open-discussion.ts";
import { grantAccess } from "#core/hub/gates/grant-access.ts";
import { createRepo } from "#core/hub/repos/create-repo.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { updateRepoSettings } from "#core/hub/repos/update-repo-settings.ts";
import { commitTo } from "#core/hub/testing/repos.ts";
import { newId } from "#core/ids.ts";
import { createApp } from "#core/oauth/apps/create-app.ts";
import { upsertArtifact } from "#core/oauth/artifact-store.ts";

/** Everybody and everything that the access table speaks of, made once. */

/** Whose token it may be: the owner of `own-…`, the roles in the organization of `org-…`, and two from outside. */
export const people = ["owner", "admin", "write", "maker", "contributor", "read", "stranger", "accepted"] as const;
export type Who = (typeof people)[number];

/**
 * Whose hand a token is in: a program of the person's own (a personal access token); the app, to which the organization is granted, or
 * to which it is not; and another app, to which it is.
 */
export const hands = ["personal", "app", "app-without-org", "other-app"] as const;
export type Hand = (typeof hands)[number];

/**
 * `own-…` are a user's, `org-…` an organization's. `…-by-app` were made by the app, `…-by-maker` by a member whose role is
 * contributor; the others by a person, in the organization its administrator.
 */
export const repoNames = [
  "own-public",
  "own-gated",
  "own-private",
  "own-private-by-app",
  "org-public",
  "org-gated",
  "org-private",
  "org-private-by-app",
  "org-private-by-maker",
] as const;
export type RepoKey = (typeof repoNames)[number];

export const collectionNames = ["own-public", "own-private", "org-private"] as const;
export type CollectionKey = (typeof collectionNames)[number];

/** What tokens carry: nothing for the hub, each scope of it alone, what only together does something, all. */
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
  collections: Record<CollectionKey, string>;
  handles: { own: string; org: string };
};

export async function makeAccessWorld(): Promise<AccessWorld> {
  const person = Object.fromEntries(
    await Promise.all(people.map(async (who) => [who, await signedInPerson(who)] as const)),
  ) as Record<Who, TestPerson>;
  const { owner, admin, write, maker, contributor, read, accepted } = person;
  const organization = await organizationOf(admin, [
    [write, "write"],
    [maker, "contributor"],
    [contributor, "contributor"],
    [read, "read"],
  ]);
  const [appId, otherAppId] = [await makeApp(owner), await makeApp(owner)];
  const handles = { own: owner.username, org: organization.name };
  const repos = {} as Record<RepoKey, Repo>;
  for (const key of repoNames) {
    repos[key] = await makeRepo(key, {
      by: key.startsWith("own") ? owner : key.endsWith("maker") ? maker : admin,
      handles,
      appId,
    });
    if (key.endsWith("gated")) {
      const { type, owner: of, name } = repos[key];
      await grantAccess(operatorCommand, { type, owner: of.handle, name }, { user: accepted.username }, from);
    }
  }
  const collections = {} as Record<CollectionKey, string>;
  for (const key of collectionNames) {
    const [by, handle] = key.startsWith("own") ? [owner, handles.own] : [admin, handles.org];
    const input = { owner: handle, title: key, isPrivate: key.endsWith("private") };
    const { collection } = await createCollection(by.actor, input, from);
    collections[key] = `${handle}/${collection.slug}-${collection.id}`;
  }
  const actors: TokenActor[] = [];
  for (const who of people) {
    const grant = (clientId: string, orgIds: string[]) => makeGrant(person[who], clientId, orgIds);
    const consents = { app: await grant(appId, [organization.id]), "app-without-org": await grant(appId, []) };
    const ofOther = await grant(otherAppId, [organization.id]);
    for (const held of scopeSets) {
      actors.push({ who, hand: "personal", scopes: held, token: await personalToken(person[who], held) });
      actors.push({ who, hand: "app", scopes: held, token: await accessToken(person[who], consents.app, held) });
      if (["owner", "admin", "accepted"].includes(who)) {
        const token = await accessToken(person[who], consents["app-without-org"], held);
        actors.push({ who, hand: "app-without-org", scopes: held, token });
      }
      if (["owner", "admin"].includes(who) && (held.length > 2 || held.includes("contribute-repos"))) {
        actors.push({ who, hand: "other-app", scopes: held, token: await accessToken(person[who], ofOther, held) });
      }
    }
  }
  return { actors, repos, collections, handles };
}

async function makeRepo(
  key: RepoKey,
  { by, handles, appId }: { by: TestPerson; handles: AccessWorld["handles"]; appId: string },
): Promise<Repo> {
  const handle = key.startsWith("own") ? handles.own : handles.org;
  const isPrivate = key.includes("private");
  const made = await createRepo(by.actor, { type: "model", owner: handle, name: key, isPrivate }, from);
  await commitTo(made, by, { "a.txt": "a" });
  await openDiscussion(by.actor, made, { title: "High water?" });
  // As it is for what came with a token of the app.
  if (key.endsWith("by-app")) await db().repo.update({ where: { id: made.id }, data: { createdByClientId: appId } });
  const name = { type: made.type, owner: handle, name: made.name };
  return updateRepoSettings(by.actor, name, key.endsWith("gated") ? { gated: "manual" } : {}, from);
}

async function makeApp(owner: TestPerson): Promise<string> {
  const input = { name: "Paper Lantern", redirectUris: ["https://app.example.test/callback"], scopes: [...scopes] };
  const { app } = await createApp(operatorCommand, { ...input, owner: { userId: owner.id } }, from);
  return app.clientId;
}

type Grant = { id: string; clientId: string };

/** What a person allows an app: the rows that the permissions modal writes. Its own tests press its buttons. */
async function makeGrant({ id: userId }: TestPerson, clientId: string, orgIds: string[]): Promise<Grant> {
  const there = await db().oAuthConsent.findFirst({ where: { userId, clientId }, select: { id: true } });
  const consentId = there?.id ?? newId();
  if (!there) {
    await db().oAuthConsent.create({
      data: { id: consentId, userId, clientId, scopes: [...scopes], orgIds, clientFingerprint: "x" },
    });
  }
  const id = newId();
  await db().oAuthGrant.create({ data: { id, consentId, userId, clientId, orgIds, payload: { accountId: userId, clientId } } });
  return { id, clientId };
}

async function accessToken({ id: accountId }: TestPerson, grant: Grant, held: readonly Scope[]): Promise<string> {
  const token = newToken("kh_oauth_");
  const iat = Math.floor(Date.now() / 1000);
  const common = { iat, exp: iat + 3_600, kind: "AccessToken", accountId, clientId: grant.clientId, grantId: grant.id };
  await upsertArtifact("AccessToken", token, { ...common, scope: held.join(" ") }, 3_600);
  return token;
}

/** By its row: that one is made only by hand, and how many a person has, is not this table's business. */
async function personalToken({ id: userId }: TestPerson, held: readonly Scope[]): Promise<string> {
  const token = newToken("kh_");
  const data = { id: newId(), userId, name: "laptop", tokenHash: hashToken(token), last4: token.slice(-4), scopes: [...held] };
  await db().personalAccessToken.create({ data });
  return token;
}
