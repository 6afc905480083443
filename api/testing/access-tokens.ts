import { type Scope, scopes } from "@keyhook/sdk";
import { operatorCommand } from "#core/access/actor.ts";
import { from, type TestPerson } from "#core/accounts/testing/people.ts";
import { ciTokenKinds } from "#core/accounts/tokens/find-ci-token.ts";
import { hashToken, newToken } from "#core/crypto/token.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { createApp } from "#core/oauth/apps/create-app.ts";
import { idHash, upsertArtifact } from "#core/oauth/artifacts/artifact-store.ts";

const appInput = { name: "Paper Lantern", redirectUris: ["https://app.example.test/callback"], scopes: [...scopes] };

export async function makeApp(owner: TestPerson): Promise<string> {
  const { app } = await createApp(operatorCommand, { ...appInput, owner: { userId: owner.id } }, from);
  return app.clientId;
}

export type BoundApp = { clientId: string; secret: string };

export async function makeBoundApp(orgId: string): Promise<BoundApp> {
  const { app, secret } = await createApp(operatorCommand, { ...appInput, owner: { orgId }, isConfidential: true }, from);
  await db().organization.update({ where: { id: orgId }, data: { plan: "enterprise" } });
  await db().oAuthApp.update({ where: { id: app.id }, data: { boundOrgId: orgId, privileges: ["token-exchange"] } });
  return { clientId: app.clientId, secret: secret as string };
}

export type Grant = { id: string; clientId: string };

export async function makeGrant({ id: userId }: TestPerson, clientId: string, orgIds: string[]): Promise<Grant> {
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

export async function accessToken({ id: accountId }: TestPerson, grant: Grant, held: readonly Scope[]): Promise<string> {
  const token = newToken("kh_oauth_");
  const iat = Math.floor(Date.now() / 1000);
  const common = { iat, exp: iat + 3_600, kind: "AccessToken", accountId, clientId: grant.clientId, grantId: grant.id };
  await upsertArtifact("AccessToken", token, { ...common, scope: held.join(" ") }, 3_600);
  return token;
}

/** The row is written directly, because the service requires recent authentication and limits the number for each user. */
export async function personalToken({ id: userId }: TestPerson, held: readonly Scope[]): Promise<string> {
  const token = newToken("kh_");
  const data = { id: newId(), userId, name: "laptop", tokenHash: hashToken(token), last4: token.slice(-4), scopes: [...held] };
  await db().personalAccessToken.create({ data });
  return token;
}

/** Exchanges one token, and copies its row for each other set of scopes. */
export async function exchangedTokens(
  origin: string,
  bound: BoundApp,
  person: TestPerson,
  sets: readonly (readonly Scope[])[],
): Promise<string[]> {
  const asked = await exchangedToken(origin, bound, person, scopes);
  const { payload } = await db().oAuthArtifact.findFirstOrThrow({ where: { idHash: idHash(asked) }, select: { payload: true } });
  return Promise.all(
    sets.map(async (held) => {
      if (held === scopes) return asked;
      const token = newToken("kh_oauth_");
      await upsertArtifact("AccessToken", token, { ...(payload as object), scope: held.join(" ") } as never, 3_600);
      return token;
    }),
  );
}

export async function exchangedToken(
  origin: string,
  { clientId, secret }: BoundApp,
  { email }: TestPerson,
  held: readonly Scope[],
): Promise<string> {
  const response = await fetch(`${origin}/oauth/token`, {
    method: "POST",
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}` },
    body: new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: email,
      subject_token_type: "urn:keyhook:token-type:user-email",
      scope: held.join(" "),
    }),
  });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (!token) throw new Error(`no token was exchanged for ${email}: ${response.status}`);
  return token;
}

export async function jobToken(
  subject: { repoId: string } | { userId: string },
  trustedBy: Partial<TestPerson> = {},
): Promise<string> {
  const token = newToken(`kh_${ciTokenKinds["repoId" in subject ? "repo" : "user"]}_`);
  const publisherId = newId();
  const issuer = { preset: "oidc", issuer: "https://ci.example.test", claims: {} };
  await db().trustedPublisher.create({ data: { id: publisherId, ...subject, ...issuer, createdById: trustedBy.id ?? null } });
  const expiresAt = new Date(Date.now() + 3_600_000);
  const data = { ...subject, publisherId, tokenHash: hashToken(token), last4: token.slice(-4), description: "run 7", expiresAt };
  await db().ciToken.create({ data: { id: newId(), ...data } });
  return token;
}
