import Link from "next/link";
import type { ReactNode } from "react";
import { ActionForm } from "../../../../_components/action-form.client.tsx";
import { Chip } from "../../../../_components/chip.tsx";
import { ConfirmDestructive } from "../../../../_components/confirm-destructive.client.tsx";
import { SectionCard } from "../../../../_components/section-card.tsx";
import { SubmitButton } from "../../../../_components/submit-button.client.tsx";
import { organizationPath } from "../../../../_server/organization-page.ts";
import { changeRuleAction } from "./actions.ts";

const descriptions = {
  "second-step": "Members set up a passkey or an authenticator app for their account.",
  provider: "Members sign in with the organization's issuer at least once every 7 days, beside their sign-in here.",
} as const;

export type RuleSectionProps = Readonly<{
  organization: Readonly<{ name: string; fullName: string }>;
  rule: keyof typeof descriptions;
  title: string;
  isRequired: boolean;
  /** Members who have not met it, whether or not it is required. */
  unmet: number;
  members: number;
  /** What whoever looks has to do before they can require it; nothing when they have. */
  ownStep?: ReactNode;
}>;

/** One rule: whether it holds, whom it would shut out, and the button that changes it. */
export function RuleSection({ organization, rule, title, isRequired, unmet, members, ownStep }: RuleSectionProps) {
  const { name, fullName } = organization;
  const whom = unmet === 1 ? "1 member" : `${unmet.toLocaleString("en")} members`;
  const action = changeRuleAction.bind(null, name);
  return (
    <SectionCard
      title={title}
      description={descriptions[rule]}
      action={isRequired ? <Chip tone="good">required</Chip> : <Chip>not required</Chip>}
    >
      <p className="mb-4 max-w-reading">
        {unmet === 0
          ? `All of the ${members.toLocaleString("en")} members have done it.`
          : `${unmet.toLocaleString("en")} of ${members.toLocaleString("en")} ${members === 1 ? "member" : "members"} ${unmet === 1 ? "has" : "have"} not done it yet.`}{" "}
        {unmet > 0 && (
          <Link prefetch={false} className="link" href={`${organizationPath(name, "settings/security")}?without=${rule}#without`}>
            Show who<span className="sr-only"> has not, {title}</span>
          </Link>
        )}
      </p>
      {!isRequired && ownStep && <p className="mb-4 max-w-reading text-muted text-small">{ownStep}</p>}
      {isRequired ? (
        <ActionForm action={action} label={title}>
          <input type="hidden" name="rule" value={rule} />
          <input type="hidden" name="to" value="off" />
          <div>
            <SubmitButton variant="secondary">No longer require it</SubmitButton>
          </div>
        </ActionForm>
      ) : unmet === 0 ? (
        <ActionForm action={action} label={title}>
          <input type="hidden" name="rule" value={rule} />
          <input type="hidden" name="to" value="on" />
          <div>
            <SubmitButton variant="secondary">Require it</SubmitButton>
          </div>
        </ActionForm>
      ) : (
        <ConfirmDestructive
          action={action}
          trigger="Require it"
          title={`Require this of all members of ${fullName}?`}
          confirm="Require it"
        >
          <input type="hidden" name="rule" value={rule} />
          <input type="hidden" name="to" value="on" />
          From the next moment on what is the organization's is closed to {whom}, to the apps that act for them and to their
          tokens, until each of them has done it. They keep their memberships, and see what to do at the organization's pages.
        </ConfirmDestructive>
      )}
    </SectionCard>
  );
}
