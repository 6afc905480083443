import { operatorCommand } from "#core/access/actor.ts";
import { hasTokenExchange } from "#core/accounts/organizations/plans.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { createApp } from "#core/oauth/apps/create-app.ts";
import { type AppPrivilege, appPrivileges } from "#core/oauth/apps/privilege.ts";
import { setAppPrivilege } from "#core/oauth/apps/set-app-privilege.ts";
import { command, UsageError } from "./command.ts";
import { findOrganizationNamed, findUserNamed } from "./find-named.ts";
import { splitWords } from "./split-words.ts";

export const appCreate = command({
  name: "app create",
  summary: "Makes an OAuth app for a user or an organization.",
  notes: [
    "Public unless --confidential, which prints the secret this one time. PKCE is required unless --pkce off, which needs a",
    "secret. The scope offline_access may be named among the others; it means --refresh. An app that only signs in devices",
    "(--device) needs no redirect URI.",
    "--privilege token-exchange, with --org, binds the app to the organization and lets it exchange tokens for its members; it needs a",
    "secret, so --confidential is taken as said, and no redirect URI.",
  ],
  options: {
    owner: { value: "USER", help: "the user that owns the app" },
    org: { value: "ORG", help: "or the organization that owns it" },
    name: { value: "NAME", help: "what people see when they are asked for consent", isRequired: true },
    "redirect-uri": {
      value: "URI",
      help: "https, http on this machine, or the app's own scheme",
      isRepeatable: true,
      field: "redirectUris",
    },
    scopes: { value: '"SCOPE …"', help: 'what it may ask for, such as "openid profile"', isRequired: true },
    "post-logout-redirect-uri": {
      value: "URI",
      help: "where people may return to after signing out",
      isRepeatable: true,
      field: "postLogoutRedirectUris",
    },
    homepage: { value: "URL", help: "the app's website", field: "homepageUrl" },
    privilege: {
      value: "PRIVILEGE",
      help: "what it may do beyond other apps",
      choices: appPrivileges,
    },
    confidential: { help: "make a secret" },
    pkce: { value: "on|off", help: "require PKCE", choices: ["on", "off"], field: "isPkceRequired" },
    device: { help: "allow the device flow", field: "isDeviceFlowAllowed" },
    par: { help: "require pushed authorization requests (RFC 9126)", field: "isParRequired" },
    dpop: { help: "require proof of possession for its tokens (RFC 9449)", field: "isDpopRequired" },
    refresh: { help: "give refresh tokens without offline_access being asked for", field: "isRefreshAllowed" },
  },
  async run(values) {
    const scopes = splitWords(values.scopes);
    const { privilege } = values;
    if (privilege && values.org === undefined)
      throw new UsageError("An app with a privilege belongs to an organization: --org ORG.");
    const { app, secret } = await createApp(
      operatorCommand,
      {
        owner: await findOwner(values.owner, values.org),
        name: values.name,
        redirectUris: values["redirect-uri"].flatMap(splitWords),
        postLogoutRedirectUris: values["post-logout-redirect-uri"].flatMap(splitWords),
        scopes: scopes.filter((scope) => scope !== "offline_access"),
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
          : `App ${name} can sign people in.`,
        `client_id: ${clientId}`,
        ...(secret ? [`client_secret: ${secret}`] : []),
      ].join("\n"),
    };
  },
});

async function describeExchange(name: string, orgId: string, orgName: string): Promise<string> {
  const { plan } = await db().organization.findUniqueOrThrow({ where: { id: orgId }, select: { plan: true } });
  if (hasTokenExchange(plan)) return `App ${name} can exchange tokens for members of ${orgName}.`;
  return `App ${name} may exchange tokens once ${orgName} has the plan: admin org set-plan --org ${orgName} --plan enterprise`;
}

async function findOwner(username?: string, orgName?: string): Promise<{ userId: string } | { orgId: string }> {
  if ((username === undefined) === (orgName === undefined))
    throw new UsageError("Say whose the app is: --owner USER or --org ORG.");
  return username === undefined
    ? { orgId: await findOrganizationNamed(orgName ?? "") }
    : { userId: await findUserNamed(username) };
}
