"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { unlinkIdentity } from "#core/accounts/identity-providers/linked-identities.ts";
import { endSiteSession, signOutElsewhere } from "#core/accounts/sessions/end-site-session.ts";
import { createPersonalAccessToken, revokePersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { changeEmail } from "#core/accounts/users/change-email.ts";
import { setPassword } from "#core/accounts/users/change-password.ts";
import { updateProfile } from "#core/accounts/users/update-profile.ts";
import { withdrawAccessRequest } from "#core/hub/gates/ask-for-access.ts";
import { deleteAccount } from "#core/hub/owners/delete-owner.ts";
import { isMailSent } from "#core/mail/queue-mail.ts";
import { narrowConsent } from "#core/oauth/consents/narrow-consent.ts";
import { revokeConsent } from "#core/oauth/consents/revoke-consent.ts";
import { formAction, image, requireConfirmation, text, texts, ticked, verbatim } from "../_server/form-action.ts";
import { givenText } from "../_server/paths.ts";
import { personAt } from "../_server/scopes.ts";
import { clearSessionCookie } from "../_server/session.ts";
import { CONNECTED_APPS_PATH } from "./connected-applications/connected-apps-path.ts";

const ACCOUNT = "/settings/account";
const accountScope = personAt(ACCOUNT);

export const changeEmailAction = formAction(accountScope, { email: text }, async ({ person, input, from }) => {
  const { email } = await changeEmail(person, input, from);
  const message = isMailSent()
    ? `We sent a link to ${email}. Your address changes when you open the link and confirm.`
    : `This server does not send e-mail. Ask its operator for the link that confirms ${email}. Your address changes when you open the link and confirm.`;
  return { message, values: {} };
});

export const endSessionAction = formAction(accountScope, { sessionId: text }, async ({ person, input, from }) => {
  await endSiteSession(person.userId, input.sessionId, from);
  redirect(`${ACCOUNT}?notice=session-ended#sessions`);
});

export const endOtherSessionsAction = formAction(accountScope, {}, async ({ person, from }) => {
  await signOutElsewhere(person.userId, person.sessionId, from);
  redirect(`${ACCOUNT}?notice=sessions-ended#sessions`);
});

export const deleteAccountAction = formAction(
  accountScope,
  { confirmation: text },
  async ({ session: { user }, person, input, from }) => {
    requireConfirmation(input.confirmation, user.username);
    await deleteAccount(person, user.id, from);
    await clearSessionCookie();
    redirect("/?notice=account-deleted");
  },
);

export const revokeAction = formAction(
  personAt(CONNECTED_APPS_PATH),
  { consentId: text, page: text },
  async ({ session, input: { consentId, page }, from }) => {
    await revokeConsent(session, consentId, from);
    redirect(`${CONNECTED_APPS_PATH}?${new URLSearchParams({ notice: "revoked", page: page || "1" })}`);
  },
);

export const narrowAction = formAction(
  personAt(CONNECTED_APPS_PATH),
  { scope: texts, organization: texts, all_organizations: ticked, page: text },
  async ({ session, input, from }, consentId: string) => {
    const kept = { scopes: input.scope, orgIds: input.organization, isAllOrgs: input.all_organizations };
    await narrowConsent(session, givenText(consentId), kept, from);
    redirect(`${CONNECTED_APPS_PATH}?${new URLSearchParams({ notice: "narrowed", page: input.page || "1" })}`);
  },
);

const GATED_REPOS = "/settings/gated-repos";

export const withdrawAction = formAction(personAt(GATED_REPOS), {}, async ({ person, from }, repoId: string) => {
  await withdrawAccessRequest(person, givenText(repoId), from);
  redirect(`${GATED_REPOS}?notice=withdrawn`);
});

const LINKED_ACCOUNTS = "/settings/linked-accounts";

export const unlinkAction = formAction(personAt(LINKED_ACCOUNTS), { identity: text }, async ({ person, input, from }) => {
  await unlinkIdentity(person, input.identity, from);
  redirect(`${LINKED_ACCOUNTS}?notice=unlinked`);
});

export const setPasswordAction = formAction(
  personAt(LINKED_ACCOUNTS),
  { newPassword: verbatim },
  async ({ person, input, from }) => {
    await setPassword(person, input, from);
    redirect(`${LINKED_ACCOUNTS}?notice=password-set`);
  },
);

export const updateProfileAction = formAction(
  personAt("/settings/profile"),
  { fullName: text, website: text, avatar: image },
  async ({ person, input: { avatar, ...names }, from }) => {
    await updateProfile(person, person.userId, { ...names, avatar }, from);
    // The header also shows name and picture.
    revalidatePath("/", "layout");
    return { message: "Profile saved.", values: names };
  },
);

export const createTokenAction = formAction(
  personAt("/settings/tokens/new"),
  {
    name: text,
    scopes: texts,
    expiresInDays: (form, name) => (form.text(name) === "never" ? null : Number(form.text(name))),
  },
  async ({ person, input, from }) => {
    const { token } = await createPersonalAccessToken(person, person.userId, input, from);
    return { values: { name: input.name }, secret: { label: "Access token", value: token } };
  },
);

export const revokeTokenAction = formAction(personAt("/settings/tokens"), {}, async ({ person, from }, tokenId: string) => {
  await revokePersonalAccessToken(person, tokenId, from);
  redirect("/settings/tokens?notice=revoked");
});
