import { operatorCommand } from "#core/access/actor.ts";
import { addIdentityProvider } from "#core/accounts/identity-providers/add-identity-provider.ts";
import { disableIdentityProvider, enableIdentityProvider } from "#core/accounts/identity-providers/disable-identity-provider.ts";
import { redirectUriOf } from "#core/accounts/identity-providers/identity-provider.ts";
import { listIdentityProviders } from "#core/accounts/identity-providers/list-identity-providers.ts";
import { providerKinds } from "#core/accounts/identity-providers/provider-kinds.ts";
import { removeIdentityProvider } from "#core/accounts/identity-providers/remove-identity-provider.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { command } from "./command.ts";
import { readSecret } from "./read-secret.ts";
import { splitWords } from "./split-words.ts";

const slug = { value: "SLUG", help: "its name in addresses, such as github", isRequired: true } as const;

export const identityProviderAdd = command({
  name: "identity-provider add",
  summary: "Lets people sign in elsewhere: at GitHub, at Google or at any OpenID Connect issuer.",
  notes: [
    "Register this service there first; its redirect URI is <ORIGIN>/login/with/SLUG/callback. An issuer's discovery document is",
    "read before anything is saved.",
  ],
  options: {
    slug,
    kind: { value: "KIND", help: "oidc (unless given), google or github", choices: providerKinds },
    name: { value: "NAME", help: "what the button says; Google and GitHub have theirs" },
    issuer: { value: "URL", help: "for oidc; for github only that of a server of one's own" },
    "client-id": { value: "ID", help: "as the provider gave it", isRequired: true, field: "clientId" },
    "client-secret": { value: "SECRET", help: "as the provider gave it; - reads it from standard input", field: "clientSecret" },
    scopes: { value: '"SCOPE …"', help: "the usual ones of the kind unless given" },
    "sign-up": { help: "makes accounts for people who have none, with the e-mail address that the provider verified" },
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
      text: `People can sign in with ${provider.name}.\nredirect URI: ${redirectUri}`,
    };
  },
});

export const identityProviderList = command({
  name: "identity-provider list",
  summary: "Lists where people can sign in elsewhere.",
  options: {},
  async run() {
    const providers = await listIdentityProviders(operatorCommand);
    return {
      json: {
        identity_providers: providers.map((one) => ({
          slug: one.slug,
          name: one.name,
          kind: one.kind,
          issuer: one.issuer,
          client_id: one.clientId,
          redirect_uri: redirectUriOf(one.slug),
          sign_up: one.isSignUpAllowed,
          disabled: one.disabledAt !== null,
          linked: one.linked,
        })),
      },
      text:
        providers
          .map(
            ({ slug, name, kind, issuer, linked, disabledAt }) =>
              `${slug}\t${name}\t${kind}\t${issuer}\t${linked} linked${disabledAt ? "\tdisabled" : ""}`,
          )
          .join("\n") || "There are none.",
    };
  },
});

export const identityProviderDisable = command({
  name: "identity-provider disable",
  summary: "Lets nobody sign in by a provider until it is enabled again. Also takes an organization's (org-<id>).",
  options: { slug },
  async run({ slug }) {
    await disableIdentityProvider(operatorCommand, slug, noOrigin);
    return { json: { disabled: slug }, text: `Nobody signs in by ${slug} now.` };
  },
});

export const identityProviderEnable = command({
  name: "identity-provider enable",
  summary: "Takes a disabled provider back into use.",
  options: { slug },
  async run({ slug }) {
    await enableIdentityProvider(operatorCommand, slug, noOrigin);
    return { json: { enabled: slug }, text: `People can sign in by ${slug} again.` };
  },
});

export const identityProviderRemove = command({
  name: "identity-provider remove",
  summary: "Takes a provider out, and with it who is linked to it.",
  options: { slug },
  async run({ slug }) {
    const { unlinked } = await removeIdentityProvider(operatorCommand, slug, noOrigin);
    return { json: { removed: slug, unlinked }, text: `${slug} is removed; ${unlinked} accounts were linked to it.` };
  },
});
