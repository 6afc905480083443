import type { Metadata } from "next";
import Link from "next/link";
import { isRecentlyAuthenticated } from "#core/access/may.ts";
import {
  findSecondStep,
  listSignInRequirements,
  organizationsRequiringSecondStep,
  type SignInRequirement,
} from "#core/accounts/second-step/find-second-step.ts";
import { arePasskeysAvailable } from "#core/accounts/second-step/verify-passkey.ts";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { PasswordField } from "../../_components/fields.client.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { NewPasswordField } from "../../_components/new-account-fields.tsx";
import { FormMessage, PageColumn, SectionCard } from "../../_components/page-layout.tsx";
import { ProveIdentity } from "../../_components/prove-identity.tsx";
import { noticeOf, type PageQuery, textOf } from "../../_server/page-query.ts";
import { requireSession } from "../../_server/session.ts";
import { changePasswordAction } from "./actions.ts";
import { AuthenticatorSection, PasskeysSection } from "./sections.tsx";
import { RECOVERY_CODES_PAGE, SECURITY_PAGE, securityNotices } from "./security-notices.ts";

export const metadata: Metadata = { title: "Security" };

export default async function SecurityPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const session = await requireSession(SECURITY_PAGE);
  const isRecent = isRecentlyAuthenticated(session);
  const { user } = session;
  const [secondStep, demands, asking] = await Promise.all([
    findSecondStep(user.id),
    listSignInRequirements(user.id),
    organizationsRequiringSecondStep(user.id),
  ]);
  const { passkeys, authenticatorSince, recoveryCodesLeft, hasPassword } = secondStep;
  const isOn = passkeys.length > 0 || authenticatorSince !== null;
  // Removing the last second step ends access to these organizations. core checks that the user saw all of them.
  const closing = passkeys.length + (authenticatorSince ? 1 : 0) === 1 ? asking : [];
  const query = await searchParams;
  const notice = noticeOf(securityNotices, query.notice);
  return (
    <PageColumn
      title="Security"
      description="How you sign in. A second step protects your account if someone learns your password."
    >
      {notice && (
        <FormMessage tone="good">
          {notice}{" "}
          {textOf(query.notice) !== "passkey-renamed" && (
            <>
              Any other sessions stay signed in;{" "}
              <Link prefetch={false} className="link" href="/settings/account#sessions">
                end them
              </Link>{" "}
              if you do not recognize them all.
            </>
          )}
        </FormMessage>
      )}
      {isOn && recoveryCodesLeft === 0 && (
        <FormMessage tone="warn">
          You have no recovery codes.{" "}
          <Link prefetch={false} className="link" href="/settings/security/recovery-codes">
            Create some
          </Link>
          , so that you can sign in if you lose your device.
        </FormMessage>
      )}
      {!isRecent && <ProveIdentity returnTo={SECURITY_PAGE}>Confirm your identity to change how you sign in.</ProveIdentity>}
      <PasskeysSection
        passkeys={passkeys}
        isRecent={isRecent}
        isAvailable={arePasskeysAvailable()}
        closing={passkeys.length === 1 ? closing : []}
      />
      <AuthenticatorSection since={authenticatorSince} isRecent={isRecent} closing={authenticatorSince ? closing : []} />
      <RecoveryCodesSection left={recoveryCodesLeft} isOn={isOn} />
      <PasswordSection username={user.username} hasPassword={hasPassword} />
      {demands.length > 0 && <DemandsSection demands={demands} />}
    </PageColumn>
  );
}

type PasswordSectionProps = Readonly<{ username: string; hasPassword: boolean }>;

function PasswordSection({ username, hasPassword }: PasswordSectionProps) {
  if (!hasPassword) {
    return (
      <SectionCard title="Password">
        <p className="text-muted">
          Your account has no password.{" "}
          <Link prefetch={false} className="link" href="/settings/linked-accounts">
            Set one
          </Link>
          .
        </p>
      </SectionCard>
    );
  }
  return (
    <SectionCard title="Password" description="Changing your password ends all your other sessions.">
      <ActionForm action={changePasswordAction} className="grid max-w-reading gap-5">
        {/* Tells password managers whose password changes. */}
        <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
        <PasswordField name="currentPassword" label="Current password" autoComplete="current-password" />
        <NewPasswordField name="newPassword" label="New password" />
        <SubmitButton variant="secondary">Change password</SubmitButton>
      </ActionForm>
    </SectionCard>
  );
}

function DemandsSection({ demands }: Readonly<{ demands: readonly SignInRequirement[] }>) {
  return (
    <SectionCard
      title="Requirements of your organizations"
      description="You can access an organization only if you meet its requirements."
      isFlush
    >
      <List label="Requirements of your organizations">
        {demands.map((demand) => (
          <ListRow
            key={demand.orgId}
            title={
              <>
                <Link prefetch={false} className="link" href={`/${demand.name}`}>
                  {demand.fullName || demand.name}
                </Link>
                {demand.unmet.length === 0 ? <Chip tone="good">Met</Chip> : <Chip tone="bad">No access</Chip>}
              </>
            }
            meta={sentences(demand)}
          />
        ))}
      </List>
    </SectionCard>
  );
}

function sentences({ requiresSecondStep, requiresProvider, unmet }: SignInRequirement): string {
  const parts = [
    requiresSecondStep &&
      (unmet.includes("mfa")
        ? "Requires a second step. Add a passkey or an authenticator app above."
        : "Requires a second step, which you have."),
    requiresProvider &&
      (unmet.includes("sso")
        ? "Requires you to sign in with its issuer, on the organization's page."
        : "Requires you to sign in with its issuer, which you have done."),
  ];
  return parts.filter(Boolean).join(" ");
}

type RecoveryCodesSectionProps = Readonly<{
  left: number;
  isOn: boolean;
}>;

function RecoveryCodesSection({ left, isOn }: RecoveryCodesSectionProps) {
  return (
    <SectionCard title="Recovery codes" description="For when you lose your second step. Each code works once.">
      {isOn ? (
        <div className="flex flex-wrap items-center gap-3">
          <p className="text-muted">
            <strong className="text-ink">{left}</strong> of 10 {left === 1 ? "is" : "are"} left.
          </p>
          <ButtonLink href={RECOVERY_CODES_PAGE} size="small">
            {left === 0 ? "Create recovery codes" : "Create new codes"}
          </ButtonLink>
        </div>
      ) : (
        <p className="text-muted">Available after you add a passkey or an authenticator app.</p>
      )}
    </SectionCard>
  );
}
