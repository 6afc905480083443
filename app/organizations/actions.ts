"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { organizationSlug } from "#core/accounts/identity-providers/identity-provider.ts";
import {
  addIdentityProvider,
  removeIdentityProvider,
  updateIdentityProvider,
} from "#core/accounts/identity-providers/manage-identity-providers.ts";
import { createOrganization } from "#core/accounts/organizations/create-organization.ts";
import { setDefaultVisibility } from "#core/accounts/organizations/default-visibility.ts";
import { createInvitation, resendInvitation, revokeInvitation } from "#core/accounts/organizations/invitations.ts";
import { changeRole, removeMember } from "#core/accounts/organizations/members.ts";
import { updateOrganizationSecurity } from "#core/accounts/organizations/security/organization-security.ts";
import { transferOrganization } from "#core/accounts/organizations/transfer-organization.ts";
import { updateOrganization } from "#core/accounts/organizations/update-organization.ts";
import { deleteOrganization } from "#core/hub/owners/delete-owner.ts";
import { type AppDecision, setAppPolicy } from "#core/oauth/app-policy/app-policy.ts";
import { askForApp } from "#core/oauth/app-policy/ask-for-app.ts";
import { decideApp } from "#core/oauth/app-policy/decide-app.ts";
import { type FormOutcome, formAction, image, requireConfirmation, text } from "../_server/form-action.ts";
import { nextPath } from "../_server/next-path.ts";
import { organizationPath } from "../_server/organization-page.ts";
import { organizationAt, personAt } from "../_server/scopes.ts";

const membersScope = organizationAt("members");

export const inviteAction = formAction(
  membersScope,
  { email: text, role: text },
  async ({ organization, person, input, from }) => {
    const { link } = await createInvitation(person, organization.id, input, from);
    if (link !== undefined) return withLink(input.email, link, { role: input.role });
    backToMembers(organization.name, "invited");
  },
);

export const resendInvitationAction = formAction(
  membersScope,
  { invitationId: text },
  async ({ organization, person, input, from }) => {
    const { email, link } = await resendInvitation(person, organization.id, input.invitationId, from);
    if (link !== undefined) return withLink(email, link);
    backToMembers(organization.name, "resent");
  },
);

/** Without a mail server, the administrator gets the link and passes it on. */
function withLink(email: string, link: string, values = {}): FormOutcome {
  revalidatePath("/", "layout");
  return {
    message: `Copy the link below and send it to ${email}.`,
    secret: { label: "Invitation link", value: link },
    values,
  };
}

export const revokeInvitationAction = formAction(
  membersScope,
  { invitationId: text },
  async ({ organization, person, input, from }) => {
    await revokeInvitation(person, organization.id, input.invitationId, from);
    backToMembers(organization.name, "revoked");
  },
);

/** `before` and `confirmed` only decide whether the page asks for confirmation. `changeRole` does not check them. */
export const changeRoleAction = formAction(
  membersScope,
  { userId: text, username: text, role: text, before: text, confirmed: text },
  async ({ organization, person, input: { userId, username, role, before, confirmed }, from }) => {
    if (role === "admin" && before !== "admin" && confirmed !== "admin") {
      redirect(`${organizationPath(organization.name, `members/${encodeURIComponent(username)}`)}?confirm=admin`);
    }
    await changeRole(person, organization.id, userId, role, from);
    backToMembers(organization.name, "role-changed");
  },
);

export const removeMemberAction = formAction(membersScope, { userId: text }, async ({ organization, person, input, from }) => {
  await removeMember(person, organization.id, input.userId, from);
  backToMembers(organization.name, "removed");
});

export const leaveAction = formAction(membersScope, {}, async ({ organization, person, from }) => {
  await removeMember(person, organization.id, person.userId, from);
  redirect("/organizations?notice=left");
});

function backToMembers(name: string, notice: string): never {
  redirect(`${organizationPath(name, "members")}?notice=${notice}`);
}

export const askForAppAction = formAction(
  organizationAt("ask-for-app"),
  { clientId: text },
  async ({ organization, person, input: { clientId }, from }) => {
    await askForApp(person, organization.id, clientId, from);
    redirect(`${organizationPath(organization.name, "ask-for-app")}?${new URLSearchParams({ client_id: clientId })}`);
  },
);

export const updateOrganizationAction = formAction(
  organizationAt("settings"),
  { fullName: text, website: text, email: text, logo: image },
  async ({ organization, person, input: { logo, ...profile }, from }) => {
    await updateOrganization(person, organization.id, { ...profile, logo }, from);
    // The navigation also shows the name.
    revalidatePath("/organizations", "layout");
    return { message: "Profile saved.", values: profile };
  },
);

export const setDefaultVisibilityAction = formAction(
  organizationAt("settings"),
  { defaultVisibility: text },
  async ({ organization, person, input, from }) => {
    await setDefaultVisibility(person, organization.id, input.defaultVisibility, from);
    return { message: "Saved. Existing repositories stay as they are.", values: input };
  },
);

const policyScope = organizationAt("settings/app-policy");

export const setAppPolicyAction = formAction(policyScope, { policy: text }, async ({ organization, person, input, from }) => {
  await setAppPolicy(person, organization.id, input.policy, from);
  redirect(`${organizationPath(organization.name, "settings/app-policy")}?notice=policy`);
});

/** Any value except `approved` and `blocked` removes the previous decision. */
export const decideAppAction = formAction(
  policyScope,
  { clientId: text, returnTo: text },
  async ({ organization, person, input: { clientId, returnTo }, from }, given: AppDecision | null) => {
    const decision = given === "approved" || given === "blocked" ? given : null;
    await decideApp(person, organization.id, { clientId, decision }, from);
    const list = new URL(listPath(organization.name, returnTo), "https://self.invalid");
    list.searchParams.set("notice", decision ?? "reset");
    redirect(list.pathname + list.search);
  },
);

/** A path outside the list becomes the first page of the list. */
function listPath(name: string, sent: string): string {
  const own = organizationPath(name, "settings/app-policy");
  const path = nextPath(sent, own);
  return path === own || path.startsWith(`${own}?`) ? path : own;
}

const ownershipScope = organizationAt("settings/ownership");

export const transferOrganizationAction = formAction(
  ownershipScope,
  { username: text, afterwards: text },
  async ({ organization, person, input, from }) => {
    await transferOrganization(person, organization.id, input, from);
    if (input.afterwards === "leave") redirect("/organizations?notice=left");
    redirect(`${organizationPath(organization.name, "members")}?notice=handed-over`);
  },
);

export const deleteOrganizationAction = formAction(
  ownershipScope,
  { confirmation: text },
  async ({ organization, person, input, from }) => {
    requireConfirmation(input.confirmation, organization.name);
    await deleteOrganization(person, organization.id, from);
    redirect("/organizations?notice=deleted");
  },
);

export const createOrganizationAction = formAction(
  personAt("/organizations/new"),
  { name: text, fullName: text, website: text },
  async ({ person, input, from }) => {
    const { name } = await createOrganization(person, input, from);
    redirect(`${organizationPath(name, "members")}?notice=created`);
  },
);

const securityScope = organizationAt("settings/security");

export const changeRequirementAction = formAction(
  securityScope,
  { requirement: text, isOn: (form) => form.text("to") === "on" },
  async ({ organization, person, page, input: { requirement, isOn }, from }) => {
    const changes = requirement === "provider" ? { requiresProvider: isOn } : { requiresSecondStep: isOn };
    await updateOrganizationSecurity(person, organization.id, changes, from);
    redirect(`${page}?notice=${isOn ? "on" : "off"}`);
  },
);

/** Only the form of a new issuer has a field for the URL. */
export const saveIssuerAction = formAction(
  securityScope,
  {
    name: text,
    clientId: text,
    clientSecret: text,
    issuer: (form) => (form.has("issuer") ? form.text("issuer") : undefined),
  },
  async ({ organization, person, page, input: { issuer, ...input }, from }) => {
    if (issuer === undefined) await updateIdentityProvider(person, organizationSlug(organization.id), input, from);
    else await addIdentityProvider(person, { ...input, kind: "oidc", orgId: organization.id, issuer }, from);
    revalidatePath(page);
    redirect(`${page}?notice=issuer-saved`);
  },
);

export const removeIssuerAction = formAction(securityScope, {}, async ({ organization, person, page, from }) => {
  await removeIdentityProvider(person, organizationSlug(organization.id), from);
  redirect(`${page}?notice=issuer-removed`);
});
