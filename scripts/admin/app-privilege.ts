import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { notFound } from "#core/errors.ts";
import { type AppPrivilege, appPrivileges } from "#core/oauth/apps/privilege.ts";
import { setAppPrivilege } from "#core/oauth/apps/set-app-privilege.ts";
import { command, UsageError } from "./command.ts";

const privilege = { value: "PRIVILEGE", choices: appPrivileges } as const;

export const appPrivilege = command({
  name: "app privilege",
  summary: "Gives an app a privilege or takes it away.",
  notes: [
    '"token-exchange" lets an app that is bound to an organization get tokens for its members without asking them; the organization',
    "needs the plan enterprise. Taken away, all that was exchanged ends at once.",
  ],
  options: {
    "client-id": { value: "ID", help: "the app", isRequired: true },
    grant: { ...privilege, help: "gives it" },
    revoke: { ...privilege, help: "takes it away" },
  },
  async run({ "client-id": clientId, grant, revoke }) {
    if ((grant === undefined) === (revoke === undefined)) throw new UsageError("Say one of --grant and --revoke.");
    const app = await db().oAuthApp.findUnique({ where: { clientId }, select: { id: true, name: true } });
    if (!app) throw notFound(`OAuth app "${clientId}"`);
    const named = (grant ?? revoke) as AppPrivilege;
    await setAppPrivilege(operatorCommand, app.id, named, grant !== undefined, noOrigin);
    const { privileges } = await db().oAuthApp.findUniqueOrThrow({ where: { clientId }, select: { privileges: true } });
    return {
      json: { client_id: clientId, privileges },
      text: `App ${app.name} ${grant ? "has" : "no longer has"} the privilege ${named}.`,
    };
  },
});
