import { afterAll, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { freshName, from, signedInPerson } from "../testing/people.ts";
import { githubEndpoints } from "./identify-by-github.ts";
import { addIdentityProvider } from "./manage-identity-providers.ts";
import { findPendingIdentity, signUpWithIdentity } from "./pending-identity.ts";
import { receiveCallback } from "./receive-callback.ts";
import { startProviderSignIn } from "./start-provider-sign-in.ts";
import { type GithubAccount, startGithubStandIn } from "./testing/github-stand-in.ts";

const github = await startGithubStandIn();
afterAll(() => github.stop());

const provider = { orgId: null, kind: "github", slug: "github", issuer: github.origin, isSignUpAllowed: true };
await addIdentityProvider(operatorCommand, { ...provider, ...github.credentials }, from);
await addIdentityProvider(
  operatorCommand,
  { ...provider, slug: "wrong", clientId: github.credentials.clientId, clientSecret: "x" },
  from,
);

let count = 1000;
function account(changes: Partial<GithubAccount> = {}): GithubAccount {
  const login = freshName("octo");
  const emails = [
    { email: `${login}@old.test`, primary: false, verified: true },
    { email: `${login}@hub.test`, primary: true, verified: true },
  ];
  return { id: ++count, login, name: "Octo Cat", emails, ...changes };
}

async function go(who: GithubAccount, slug = "github") {
  const { url, browser } = await startProviderSignIn({ slug, intent: "sign-in", next: "/" }, undefined, from);
  const parameters = github.agree(url, who);
  return receiveCallback({ slug, parameters, browser, actor: undefined, sessionToken: undefined }, from);
}

async function pending(who: GithubAccount): Promise<string> {
  const outcome = await go(who);
  if (outcome.step !== "pending") throw new Error(JSON.stringify(outcome));
  return outcome.token;
}

test("a GitHub user is identified by the account's number, because logins are renamed and reused", async () => {
  const one = account();
  const token = await pending(one);
  expect(await findPendingIdentity(token, undefined)).toMatchObject({
    choice: "sign-up",
    provider: { name: "GitHub" },
    displayName: one.login,
    username: one.login,
    email: `${one.login}@hub.test`,
  });
  const { outcome } = await signUpWithIdentity(token, { username: one.login }, from);
  expect(await go({ ...one, login: freshName("renamed"), emails: [] })).toMatchObject({ outcome: { userId: outcome.userId } });
  expect((await go(account({ login: one.login, emails: one.emails }))).step).toBe("pending");
  expect(await db().linkedIdentity.findFirst({ where: { userId: outcome.userId } })).toMatchObject({ subject: String(one.id) });
});

test("only the primary address counts, and only if it is verified", async () => {
  const victim = await signedInPerson();
  const spoofs = [
    [{ email: victim.email, primary: true, verified: false }],
    [{ email: victim.email, primary: false, verified: true }],
    [],
    "none" as never,
    [null as never],
  ];
  for (const emails of spoofs) {
    const token = await pending(account({ emails }));
    expect(await findPendingIdentity(token, undefined)).toMatchObject({
      choice: "sign-in-first",
      hasAccount: false,
      email: null,
    });
  }
});

test("an invalid account, a wrong secret and the code of another sign-in are refused", async () => {
  for (const id of ["1", 0, -1, 1.5, 2 ** 60, null, undefined]) {
    expect(await go(account({ id }))).toMatchObject({ step: "failed", reason: "unacceptable" });
  }
  expect(await go(account(), "wrong")).toMatchObject({ reason: "unacceptable" });
  const mine = await startProviderSignIn({ slug: "github", intent: "sign-in", next: "/" }, undefined, from);
  const theirs = await startProviderSignIn({ slug: "github", intent: "sign-in", next: "/" }, undefined, from);
  const parameters = github.agree(theirs.url, account());
  parameters.set("state", new URL(mine.url).searchParams.get("state") as string);
  expect(
    await receiveCallback({ slug: "github", parameters, browser: mine.browser, actor: undefined, sessionToken: undefined }, from),
  ).toMatchObject({ reason: "unacceptable" });
});

test("github.com has its API at a host of its own", () => {
  expect(githubEndpoints("https://github.com")).toMatchObject({
    metadata: { token_endpoint: "https://github.com/login/oauth/access_token" },
    user: "https://api.github.com/user",
    emails: "https://api.github.com/user/emails",
  });
});
