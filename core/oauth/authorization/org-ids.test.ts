import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { ask, openInteraction, openQuestion, PKCE } from "../testing/authorization.ts";
import { type Prepared, prepare } from "../testing/sign-in.ts";
import { REDIRECT_URI, startWorld, type World } from "../testing/world.ts";
import { joinOrgIds, parseOrgIds } from "./org-ids.ts";

/** docs/specification/oauth.md#organizations-in-an-authorization-request (S22). */
const [A, B, C] = ["aaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccccccc"];

describe("parsing orgIds", () => {
  test.each([
    [undefined, []],
    ["", []],
    [A, [A]],
    [`${A},${B}`, [A, B]],
    [` ${A} , ${B},`, [A, B]],
    [`${A},${A}`, [A]],
    [`${A};${B}`, []],
    [`${A.toUpperCase()},x,${"a".repeat(23)},${"a".repeat(25)},../..,\0`, []],
  ])("%j", (value, ids) => {
    expect(parseOrgIds(value)).toEqual(ids);
  });

  test("keeps at most fifty IDs", () => {
    const many = Array.from({ length: 60 }, (_, index) => index.toString(16).padStart(24, "0"));
    expect(parseOrgIds(many.join(","))).toEqual(many.slice(0, 50));
  });

  test("joins repeated orgIds into one and changes no other parameter", () => {
    const joined = joinOrgIds(new URLSearchParams(`a=1&orgIds=${A}&a=2&orgIds=${B},${C}&b=%20+`));
    expect([...joined]).toEqual([
      ["a", "1"],
      ["orgIds", `${A},${B},${C}`],
      ["a", "2"],
      ["b", "  "],
    ]);
  });
});

describe("orgIds at the authorization endpoint", () => {
  let world: World;
  let at: Prepared;
  let mine: string;
  let second: string;
  let theirs: string;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.stop());
  beforeEach(async () => {
    at = await prepare(world, { isConfidential: true });
    mine = await world.organization(`m-${newId()}`, { [at.person.id]: "read" });
    second = await world.organization(`s-${newId()}`, { [at.person.id]: "read" });
    theirs = await world.organization(`t-${newId()}`, { [(await world.user(`x-${newId()}`)).id]: "admin" });
  });

  const request = (...orgIds: string[]): [string, string][] => [
    ["client_id", at.app.clientId],
    ["redirect_uri", REDIRECT_URI],
    ["response_type", "code"],
    ["scope", "openid profile"],
    ["state", "a + state"],
    ...Object.entries(PKCE),
    ...orgIds.map((each): [string, string] => ["orgIds", each]),
  ];

  test.each(["GET", "POST"] as const)("with %s may be several values", async (method) => {
    for (const spelled of [[mine, second], [`${mine},${second}`], [`${mine},`, `${second},${mine}`]]) {
      const { request: shown } = await openInteraction(at, await ask(at, request(...spelled), method));
      expect(
        shown.organizations
          .filter(({ isAskedFor }) => isAskedFor)
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual([mine, second].toSorted());
    }
    const refused = await ask(at, [...request(mine, second), ["prompt", "none"]], method);
    expect(refused.answer).toMatchObject({ error: "consent_required", state: "a + state" });
  });

  test("that were requested are ticked, and granted ones are in userinfo", async () => {
    const { request: shown } = await openQuestion(at, { orgIds: second });
    expect(shown.organizations.map(({ id, isTicked }) => [id, isTicked])).toEqual([
      [second, true],
      [mine, false],
    ]);
    const { tokens } = await world.signInWith(at.app, at.session, at.browser, { orgIds: second });
    const claims = (await (await world.userinfo(tokens.access_token)).json()) as { organizations: { sub: string }[] };
    expect(claims.organizations.map(({ sub }) => sub)).toEqual([second]);
  });

  test("S22 an organization that the user is not in, a missing organization and an invalid ID get the same response", async () => {
    const odd = [theirs, newId(), "x".repeat(300), "", `${theirs},${newId()}`, "%", "0".repeat(24)];
    const answersTo = async (parameters: Record<string, string>) =>
      Promise.all(
        odd.map(async (orgIds) => {
          const { status, isQuestion, answer, page } = await ask(at, { ...parameters, orgIds });
          return {
            status,
            isQuestion,
            answer: { ...answer, code: answer.code && "a code" },
            page: isQuestion || answer.code ? "" : page,
          };
        }),
      );
    const allTheSame = (answers: unknown[]) => expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);

    const before = await answersTo({});
    expect(before[0]).toMatchObject({ isQuestion: true });
    allTheSame(before);
    allTheSame(await answersTo({ prompt: "none" }));

    await world.signInWith(at.app, at.session, at.browser);
    const after = await answersTo({});
    expect(after[0]).toMatchObject({ status: 303, answer: { code: "a code" } });
    allTheSame(after);
    expect(await ask(at, { orgIds: mine })).toMatchObject({ isQuestion: true });
  });

  test("S22 are left out of the token and the consent if the user is not a member", async () => {
    const { tokens } = await world.signInWith(at.app, at.session, at.browser, { orgIds: `${theirs},${mine}` });
    const body = await (await world.userinfo(tokens.access_token)).text();
    expect(body).toContain(mine);
    expect(body).not.toContain(theirs);
    const consent = await db().oAuthConsent.findFirstOrThrow({ where: { clientId: at.app.clientId } });
    expect(consent).toMatchObject({ orgIds: [mine], declinedOrgIds: [] });
  });

  test("S22 lead to a new question when the user joins the organization later", async () => {
    await world.signInWith(at.app, at.session, at.browser, { orgIds: theirs });
    expect((await ask(at, { orgIds: theirs })).isQuestion).toBe(false);
    await db().membership.create({ data: { orgId: theirs, userId: at.person.id, role: "read" } });
    expect((await ask(at, { orgIds: theirs })).isQuestion).toBe(true);
  });
});
