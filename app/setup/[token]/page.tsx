import type { Metadata } from "next";
import { isSetupLink } from "#core/accounts/setup-link.ts";
import { env } from "#core/env.ts";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { CardFrame, CardHeader, Gone } from "../../_components/card-frame.tsx";
import { NewAccountFields } from "../../_components/new-account-fields.tsx";
import { redeemSetupLinkAction } from "../../_server/sign-in-actions.ts";

export const metadata: Metadata = { title: "Set up" };

/** The service prints the link to this page at its start. */
export default async function SetupPage({ params }: Readonly<{ params: Promise<{ token: string }> }>) {
  const { token } = await params;
  if (!(await isSetupLink(token))) {
    return (
      <Gone title="This link no longer works" action={<ButtonLink href="/login">Go to sign-in</ButtonLink>}>
        The service already has an operator, or printed a newer link when it last started.
      </Gone>
    );
  }
  return (
    <CardFrame>
      <CardHeader title={`Set up ${env().BRAND_NAME}`}>
        The first account is the operator&rsquo;s: it manages the service and all accounts.
      </CardHeader>
      <div className="px-6 pt-5 pb-6">
        <ActionForm action={redeemSetupLinkAction}>
          <input type="hidden" name="token" value={token} />
          <NewAccountFields />
          <SubmitButton isWide>Create the operator</SubmitButton>
        </ActionForm>
      </div>
    </CardFrame>
  );
}
