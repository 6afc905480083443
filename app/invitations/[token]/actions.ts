"use server";

import { redirect } from "next/navigation";
import { personActor } from "#core/access/actor.ts";
import { acceptInvitation } from "#core/accounts/organizations/invitations/accept-invitation.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { organizationPath } from "../../_server/organization-page.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { requireSession } from "../../_server/session.ts";

export async function acceptInvitationAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const token = form.text("token");
    const session = await requireSession(`/invitations/${encodeURIComponent(token)}`);
    const { name } = await acceptInvitation(personActor(session), token, await requestOrigin());
    redirect(organizationPath(name));
  });
}
