import type { Metadata } from "next";
import Link from "next/link";
import { isRecentlyAuthenticated } from "#core/access/is-recently-authenticated.ts";
import { findSecondStep, listOrganizationDemands } from "#core/accounts/second-step/find-second-step.ts";
import { organizationsAskingForSecondStep } from "#core/accounts/second-step/organizations-asking.ts";
import { arePasskeysAvailable } from "#core/accounts/second-step/relying-party.ts";
import { FormMessage } from "../../_components/form-message.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { ProveIdentity } from "../../_components/prove-identity.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { requireSession } from "../../_server/session.ts";
import { AuthenticatorSection } from "./authenticator-section.tsx";
import { DemandsSection } from "./demands-section.tsx";
import { PasskeysSection } from "./passkeys-section.tsx";
import { PasswordSection } from "./password-section.tsx";
import { RecoveryCodesSection } from "./recovery-codes-section.tsx";
import { securityNotices } from "./security-notices.ts";
import { SECURITY_PAGE } from "./security-pages.ts";

export const metadata: Metadata = { title: "Security" };

/** How one signs in: what one knows, what one has, and what organizations ask for. */
export default async function SecurityPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const session = await requireSession(SECURITY_PAGE);
  const isRecent = isRecentlyAuthenticated(session);
  const { user } = session;
  const [secondStep, demands, asking] = await Promise.all([
    findSecondStep(user.id),
    listOrganizationDemands(user.id),
    organizationsAskingForSecondStep(user.id),
  ]);
  const { passkeys, authenticatorSince, recoveryCodesLeft, hasPassword } = secondStep;
  const isOn = passkeys.length > 0 || authenticatorSince !== null;
  // Taking the last one away closes these; the form says so, and core asks whether it did.
  const closing = passkeys.length + (authenticatorSince ? 1 : 0) === 1 ? asking : [];
  const notice = securityNotices.get(textOf((await searchParams).notice));
  return (
    <>
      <PageHeader
        title="Security"
        description="How you sign in. A second step keeps whoever learns your password out of your account."
      />
      <div className="grid grid-cols-1 gap-5">
        {notice && (
          <FormMessage tone="good">
            {notice} Your other sessions go on;{" "}
            <Link prefetch={false} className="link" href="/settings/account#sessions">
              end them
            </Link>{" "}
            if you do not know them all.
          </FormMessage>
        )}
        {isOn && recoveryCodesLeft === 0 && (
          <FormMessage tone="warn">
            You have no recovery codes.{" "}
            <Link prefetch={false} className="link" href="/settings/security/recovery-codes">
              Make some
            </Link>
            , so that a lost device does not lock you out.
          </FormMessage>
        )}
        {!isRecent && (
          <ProveIdentity returnTo={SECURITY_PAGE}>To change what signs you in, confirm that it is you.</ProveIdentity>
        )}
        <PasskeysSection
          passkeys={passkeys}
          isRecent={isRecent}
          isAvailable={arePasskeysAvailable()}
          closing={passkeys.length === 1 ? closing : []}
        />
        <AuthenticatorSection since={authenticatorSince} isRecent={isRecent} closing={authenticatorSince ? closing : []} />
        <RecoveryCodesSection left={recoveryCodesLeft} isOn={isOn} />
        <PasswordSection username={user.username} hasPassword={hasPassword} />
        <DemandsSection demands={demands} />
      </div>
    </>
  );
}
