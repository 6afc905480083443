import { expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { createOrganization } from "#core/accounts/organizations/create-organization.ts";
import { signedInPerson } from "#core/accounts/testing/people.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { appCreate, appPrivilege } from "./app.ts";

import { parseArguments } from "./parse-arguments.ts";

test("an app is created with the privilege `token-exchange`, which is then revoked and granted again (S90)", async () => {
  const { id: ownerId } = await signedInPerson();
  const name = `org-${newId().slice(-8)}`;
  await createOrganization(operatorCommand, { name, fullName: "Lamp Guild", ownerId }, noOrigin);
  const argv = [
    "app",
    "create",
    "--org",
    name,
    "--name",
    "Heron",
    "--scopes",
    "openid read-repos",
    "--privilege",
    "token-exchange",
  ];
  const { values } = parseArguments(argv, [appCreate]) as { values: Record<string, unknown> };
  const made = await appCreate.run(values);
  const clientId = String(made.json.client_id);
  expect(made.json.client_secret).toMatch(/^kh_secret_/);
  expect(made.text).toContain(`admin org set-plan --org ${name} --plan enterprise`);
  const read = () => db().oAuthApp.findUniqueOrThrow({ where: { clientId } });
  expect(await read()).toMatchObject({ privileges: ["token-exchange"], redirectUris: [], boundOrgId: expect.any(String) });

  expect((await appPrivilege.run({ "client-id": clientId, revoke: "token-exchange" })).json).toMatchObject({ privileges: [] });
  expect((await appPrivilege.run({ "client-id": clientId, grant: "token-exchange" })).json).toMatchObject({
    privileges: ["token-exchange"],
  });
  await expect(appPrivilege.run({ "client-id": clientId })).rejects.toThrow("--grant or --revoke");
  await expect(appPrivilege.run({ "client-id": "nobody", grant: "token-exchange" })).rejects.toMatchObject({ code: "not_found" });
});
