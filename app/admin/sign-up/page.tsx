import type { Metadata } from "next";
import Link from "next/link";
import { readSignUpPolicy } from "#core/accounts/users/sign-up-policy.ts";
import { PageColumn } from "../../_components/page-layout.tsx";
import { noticeOf, type PageQuery } from "../../_server/page-query.ts";
import { requireOperator } from "../../_server/session.ts";
import { setSignUpAction } from "../actions.ts";
import { AdminCommand } from "../admin-command.tsx";
import { SwitchCard } from "../switch-card.tsx";

export const metadata: Metadata = { title: "Sign-up · Administration" };

const notices: Record<string, string> = {
  open: "Anyone can now create an account.",
  invited: "Only invited people can now create an account. Existing accounts are kept.",
};

export default async function SignUpPolicyPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  await requireOperator("/admin/sign-up");
  const [{ isOpen, changedAt }, { notice }] = await Promise.all([readSignUpPolicy(), searchParams]);
  return (
    <PageColumn title="Sign-up" description="Who can create an account." notice={noticeOf(notices, notice)}>
      <SwitchCard
        title="Open sign-up"
        description="Lets anyone with an e-mail address create an account."
        sentence={
          isOpen
            ? "Turn it off if this service is for a closed group. Organizations can still invite people."
            : "Only people whom an organization has invited can create an account, with the invited e-mail address."
        }
        isOn={isOpen}
        changedAt={changedAt}
        field="isOpen"
        action={setSignUpAction}
      >
        <p className="text-muted">
          Each{" "}
          <Link prefetch={false} href="/admin/identity-providers" className="link">
            identity provider
          </Link>{" "}
          has its own setting for new accounts. You can also create accounts with <AdminCommand>user create</AdminCommand>.
        </p>
      </SwitchCard>
    </PageColumn>
  );
}
