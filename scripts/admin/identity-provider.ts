import { operatorCommand } from "#core/access/actor.ts";
import { providerKinds, redirectUriOf } from "#core/accounts/identity-providers/identity-provider.ts";
import {
  addIdentityProvider,
  disableIdentityProvider,
  enableIdentityProvider,
  listIdentityProviders,
  removeIdentityProvider,
} from "#core/accounts/identity-providers/manage-identity-providers.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { counted } from "#core/counted.ts";
import { command, listed } from "./command.ts";
import { readSecret, splitWords } from "./option-values.ts";

const slug = { value: "SLUG", help: "its name in URLs, such as github", isRequired: true } as const;

const identityProviderAdd = command({
  name: "identity-provider add",
  summary: "Lets users sign in with GitHub, Google or any OpenID Connect issuer.",
  notes: [
    "Register this service there first; its redirect URI is <ORIGIN>/login/with/SLUG/callback. The service fetches an issuer's",
    "discovery document before it saves anything.",
  ],
  options: {
    slug,
    kind: { value: "KIND", help: "oidc (the default), google or github", choices: providerKinds },
    name: { value: "NAME", help: "the name on the button; Google and GitHub have their own" },
    issuer: { value: "URL", help: "required for oidc; for github, only if you have a GitHub server of your own" },
    "client-id": { value: "ID", help: "from the provider", isRequired: true, field: "clientId" },
    "client-secret": { value: "SECRET", help: "from the provider; - reads it from standard input", field: "clientSecret" },
    scopes: { value: '"SCOPE …"', help: "by default, the usual scopes for this kind of provider" },
    "sign-up": { help: "create accounts for people who have none, with the e-mail address that the provider verified" },
  },
  async run(values) {
    const secret = values["client-secret"];
    const provider = await addIdentityProvider(
      operatorCommand,
      {
        orgId: null,
        kind: values.kind ?? "oidc",
        slug: values.slug,
        name: values.name,
        issuer: values.issuer,
        clientId: values["client-id"],
        clientSecret: secret === undefined ? undefined : await readSecret(secret),
        scopes: values.scopes === undefined ? undefined : splitWords(values.scopes),
        isSignUpAllowed: values["sign-up"],
      },
      noOrigin,
    );
    const redirectUri = redirectUriOf(provider.slug);
    return {
      json: { id: provider.id, slug: provider.slug, name: provider.name, issuer: provider.issuer, redirect_uri: redirectUri },
      text: `The sign-in page now offers ${provider.name}.\nredirect URI: ${redirectUri}`,
    };
  },
});

const identityProviderList = command({
  name: "identity-provider list",
  summary: "Lists the identity providers.",
  options: {},
  async run() {
    const providers = await listIdentityProviders(operatorCommand);
    const identityProviders = providers.map((one) => ({
      slug: one.slug,
      name: one.name,
      kind: one.kind,
      issuer: one.issuer,
      client_id: one.clientId,
      redirect_uri: redirectUriOf(one.slug),
      sign_up: one.isSignUpAllowed,
      disabled: one.disabledAt !== null,
      linked: one.linked,
    }));
    const lines = providers.map(({ slug, name, kind, issuer, linked, disabledAt }) => [
      slug,
      name,
      kind,
      issuer,
      `${linked} linked`,
      ...(disabledAt ? ["disabled"] : []),
    ]);
    return listed({ identity_providers: identityProviders }, lines);
  },
});

const identityProviderDisable = command({
  name: "identity-provider disable",
  summary: "Stops sign-ins with a provider until it is enabled again. Also works for an organization's issuer (org-<id>).",
  options: { slug },
  async run({ slug }) {
    await disableIdentityProvider(operatorCommand, slug, noOrigin);
    return { json: { disabled: slug }, text: `Nobody can sign in with ${slug} now.` };
  },
});

const identityProviderEnable = command({
  name: "identity-provider enable",
  summary: "Enables a disabled provider.",
  options: { slug },
  async run({ slug }) {
    await enableIdentityProvider(operatorCommand, slug, noOrigin);
    return { json: { enabled: slug }, text: `Users can sign in with ${slug} again.` };
  },
});

const identityProviderRemove = command({
  name: "identity-provider remove",
  summary: "Removes a provider, and unlinks all accounts from it.",
  options: { slug },
  async run({ slug }) {
    const { unlinked } = await removeIdentityProvider(operatorCommand, slug, noOrigin);
    return {
      json: { removed: slug, unlinked },
      text: `${slug} was removed; ${counted(unlinked, "account was", "accounts were")} linked to it.`,
    };
  },
});

export const identityProviderCommands = [
  identityProviderAdd,
  identityProviderList,
  identityProviderDisable,
  identityProviderEnable,
  identityProviderRemove,
];
