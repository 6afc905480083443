"use server";

import { redirect } from "next/navigation";
import { createInvitation } from "#core/accounts/organizations/invitations/create-invitation.ts";
import { resendInvitation } from "#core/accounts/organizations/invitations/resend-invitation.ts";
import { revokeInvitation } from "#core/accounts/organizations/invitations/revoke-invitation.ts";
import { changeRole } from "#core/accounts/organizations/members/change-role.ts";
import { removeMember } from "#core/accounts/organizations/members/remove-member.ts";
import type { FormState } from "../../../_components/form-state.ts";
import { submitForm } from "../../../_server/form.ts";
import { organizationPath, requireOrganizationPage } from "../../../_server/organization-page.ts";
import { requestOrigin } from "../../../_server/request-origin.ts";

/** @param name of the organization, as each action here takes it; whether the person may is core's decision. */
export async function inviteAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { organization, person } = await requireOrganizationPage(name);
    const input = { email: form.text("email"), role: form.text("role") };
    await createInvitation(person, organization.id, input, await requestOrigin());
    backToMembers(organization.name, "invited");
  });
}

export async function resendInvitationAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { organization, person } = await requireOrganizationPage(name);
    await resendInvitation(person, organization.id, form.text("invitationId"), await requestOrigin());
    backToMembers(organization.name, "resent");
  });
}

export async function revokeInvitationAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { organization, person } = await requireOrganizationPage(name);
    await revokeInvitation(person, organization.id, form.text("invitationId"), await requestOrigin());
    backToMembers(organization.name, "revoked");
  });
}

export async function changeRoleAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { organization, person } = await requireOrganizationPage(name);
    const isPromotion = form.text("role") === "admin" && form.text("before") !== "admin";
    if (isPromotion && form.text("confirmed") !== "admin") {
      redirect(`${organizationPath(organization.name, `members/${encodeURIComponent(form.text("username"))}`)}?confirm=admin`);
    }
    await changeRole(person, organization.id, form.text("userId"), form.text("role"), await requestOrigin());
    backToMembers(organization.name, "role-changed");
  });
}

export async function removeMemberAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { organization, person } = await requireOrganizationPage(name);
    await removeMember(person, organization.id, form.text("userId"), await requestOrigin());
    backToMembers(organization.name, "removed");
  });
}

export async function leaveAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    const { organization, person } = await requireOrganizationPage(name);
    await removeMember(person, organization.id, person.userId, await requestOrigin());
    redirect("/organizations?notice=left");
  });
}

function backToMembers(name: string, notice: string): never {
  redirect(`${organizationPath(name, "members")}?notice=${notice}`);
}
