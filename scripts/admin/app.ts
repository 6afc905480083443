import { readFile } from "node:fs/promises";
import { operatorCommand } from "#core/access/actor.ts";
import { hasTokenExchange } from "#core/accounts/organizations/plans.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { notFound } from "#core/errors.ts";
import { type AppPrivilege, appPrivileges, setAppPrivilege } from "#core/oauth/apps/app-privilege.ts";
import { createApp } from "#core/oauth/apps/create-app.ts";
import { command, UsageError } from "./command.ts";
import { findOrganizationNamed, findUserNamed, splitWords } from "./option-values.ts";

const privilege = { value: "PRIVILEGE", choices: appPrivileges } as const;

export const appCreate = command({
  name: "app create",
  summary: "Creates an OAuth app for a user or an organization.",
  notes: [
    "The app is public unless --confidential, which prints its secret once. PKCE is required unless --pkce off, which needs a",
    "secret. The scope offline_access implies --refresh. An app for devices only (--device) needs no redirect URI.",
    "--privilege token-exchange, with --org, binds the app to the organization and lets it get tokens for its members. It",
    "implies --confidential, and needs no redirect URI.",
  ],
  options: {
    owner: { value: "USER", help: "the user that owns the app" },
    org: { value: "ORG", help: "or the organization that owns it" },
    name: { value: "NAME", help: "the name on the consent page", isRequired: true },
    "redirect-uri": {
      value: "URI",
      help: "https, http on this machine, or the app's own scheme",
      isRepeatable: true,
      field: "redirectUris",
    },
    scopes: { value: '"SCOPE …"', help: 'the scopes that it may request, such as "openid profile"', isRequired: true },
    "post-logout-redirect-uri": {
      value: "URI",
      help: "where the browser may return after signing out",
      isRepeatable: true,
      field: "postLogoutRedirectUris",
    },
    logo: { value: "FILE", help: "a picture: PNG, JPEG, WebP, GIF or AVIF", field: "logo" },
    homepage: { value: "URL", help: "the app's website", field: "homepageUrl" },
    privilege: { ...privilege, help: "what the app may do that other apps may not" },
    confidential: { help: "create a secret" },
    pkce: { value: "on|off", help: "require PKCE", choices: ["on", "off"], field: "isPkceRequired" },
    device: { help: "allow the device flow", field: "isDeviceFlowAllowed" },
    par: { help: "require pushed authorization requests (RFC 9126)", field: "isParRequired" },
    dpop: { help: "require proof of possession for its tokens (RFC 9449)", field: "isDpopRequired" },
    refresh: { help: "issue refresh tokens even if offline_access is not requested", field: "isRefreshAllowed" },
  },
  async run(values) {
    const scopes = splitWords(values.scopes);
    const { privilege } = values;
    if (privilege && values.org === undefined)
      throw new UsageError("An app with a privilege must belong to an organization: add --org ORG.");
    const { app, secret } = await createApp(
      operatorCommand,
      {
        owner: await findOwner(values.owner, values.org),
        name: values.name,
        redirectUris: values["redirect-uri"].flatMap(splitWords),
        postLogoutRedirectUris: values["post-logout-redirect-uri"].flatMap(splitWords),
        scopes: scopes.filter((scope) => scope !== "offline_access"),
        logo: values.logo === undefined ? undefined : await readPicture(values.logo),
        homepageUrl: values.homepage,
        isConfidential: values.confidential || privilege !== undefined,
        isBound: privilege !== undefined,
        isPkceRequired: values.pkce !== "off",
        isDeviceFlowAllowed: values.device,
        isParRequired: values.par,
        isDpopRequired: values.dpop,
        isRefreshAllowed: values.refresh || scopes.includes("offline_access"),
      },
      noOrigin,
    );
    const { id, clientId, name } = app;
    if (privilege) await setAppPrivilege(operatorCommand, id, privilege as AppPrivilege, true, noOrigin);
    return {
      json: { id, client_id: clientId, client_secret: secret },
      text: [
        privilege && app.boundOrgId
          ? await describeExchange(name, app.boundOrgId, values.org ?? "")
          : `App ${name} can sign users in.`,
        `client_id: ${clientId}`,
        ...(secret ? [`client_secret: ${secret}`] : []),
      ].join("\n"),
    };
  },
});

async function readPicture(path: string): Promise<Buffer> {
  return readFile(path).catch((error: Error) => {
    throw new UsageError(`The logo cannot be read: ${error.message}`);
  });
}

async function describeExchange(name: string, orgId: string, orgName: string): Promise<string> {
  const { plan } = await db().organization.findUniqueOrThrow({ where: { id: orgId }, select: { plan: true } });
  if (hasTokenExchange(plan)) return `App ${name} can get tokens for members of ${orgName}.`;
  return `App ${name} can get tokens for members once ${orgName} has the Enterprise or Plus plan: admin org set-plan --org ${orgName} --plan enterprise`;
}

async function findOwner(username?: string, orgName?: string): Promise<{ userId: string } | { orgId: string }> {
  if ((username === undefined) === (orgName === undefined)) throw new UsageError("Specify the owner: --owner USER or --org ORG.");
  return username === undefined
    ? { orgId: await findOrganizationNamed(orgName ?? "") }
    : { userId: await findUserNamed(username) };
}

export const appPrivilege = command({
  name: "app privilege",
  summary: "Grants a privilege to an app or revokes it.",
  notes: [
    '"token-exchange" lets an app that is bound to an organization get tokens for its members without asking them; the organization',
    "needs the Enterprise or Plus plan. Revoking the privilege revokes the app's exchanged tokens at once.",
  ],
  options: {
    "client-id": { value: "ID", help: "the app", isRequired: true },
    grant: { ...privilege, help: "the privilege to grant" },
    revoke: { ...privilege, help: "the privilege to revoke" },
  },
  async run({ "client-id": clientId, grant, revoke }) {
    if ((grant === undefined) === (revoke === undefined)) throw new UsageError("Specify either --grant or --revoke.");
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

export const appCommands = [appCreate, appPrivilege];
