import { afterAll, expect, test } from "vitest";
import { startHandMadeIssuer } from "#core/accounts/identity-providers/testing/hand-made-issuer.ts";
import { db } from "#core/db.ts";
import { loadAllCommands } from "./commands.ts";
import { parseArguments } from "./parse-arguments.ts";
import { describeFailure } from "./report.ts";

const commands = await loadAllCommands();
const issuer = await startHandMadeIssuer();
afterAll(() => issuer.stop());

/** Runs a line of the operator's command, in this process. */
async function admin(...args: string[]) {
  const request = parseArguments(["identity-provider", ...args], commands);
  if (request.kind !== "run") throw new Error("help was asked for");
  try {
    const { json, text } = await request.command.run(request.values);
    return { json, text, exitCode: 0 };
  } catch (error) {
    const { json, text, exitCode } = describeFailure(error, request.command);
    return { json: json as Record<string, unknown>, text, exitCode };
  }
}

test("identity-provider add, list, disable, enable, remove", async () => {
  const client = ["--client-id", "us", "--client-secret", "a secret"];
  const add = (slug: string, ...more: string[]) => admin("add", "--slug", slug, "--name", "Acme", ...client, ...more);
  const redirect_uri = "http://localhost:3000/login/with/acme/callback";

  expect(await add("acme", "--issuer", "http://169.254.169.254")).toMatchObject({
    exitCode: 2,
    json: { field: "issuer" },
    text: expect.stringContaining("not on the public internet"),
  });
  expect(await add("Acme Corp", "--issuer", issuer.origin)).toMatchObject({ exitCode: 2, json: { field: "slug" } });
  const added = await add("acme", "--issuer", issuer.origin, "--sign-up");
  expect(added).toMatchObject({ exitCode: 0, json: { slug: "acme", issuer: issuer.origin, redirect_uri } });
  expect(await add("acme", "--issuer", issuer.origin)).toMatchObject({ json: { code: "conflict", field: "slug" } });

  const listed = async () =>
    (await admin("list")) as unknown as { json: { identity_providers: Record<string, unknown>[] }; text: string };
  expect((await listed()).json.identity_providers).toMatchObject([
    { slug: "acme", sign_up: true, disabled: false, redirect_uri, linked: 0 },
  ]);
  expect(JSON.stringify(await listed()) + JSON.stringify(added)).not.toContain("a secret");
  await admin("disable", "--slug", "acme");
  expect((await listed()).json.identity_providers).toMatchObject([{ disabled: true }]);
  await admin("enable", "--slug", "acme");
  expect(await admin("remove", "--slug", "acme")).toMatchObject({ exitCode: 0, json: { removed: "acme", unlinked: 0 } });
  expect(await admin("remove", "--slug", "acme")).toMatchObject({ exitCode: 1, json: { code: "not_found" } });
  const trail = await db().auditEvent.findMany({ where: { type: { startsWith: "identity_provider." } } });
  expect(trail.map(({ type }) => type.split(".")[1]).sort()).toEqual(["create", "delete", "disable", "enable"]);
});
