import { ButtonLink } from "../../_components/button.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { RECOVERY_CODES_PAGE } from "./security-pages.ts";

export type RecoveryCodesSectionProps = Readonly<{ left: number /** Whether a second step is set up. */; isOn: boolean }>;

export function RecoveryCodesSection({ left, isOn }: RecoveryCodesSectionProps) {
  return (
    <SectionCard title="Recovery codes" description="For the day on which you have lost your second step. Each works once.">
      {isOn ? (
        <div className="flex flex-wrap items-center gap-3">
          <p className="text-muted">
            <strong className="text-ink">{left}</strong> of 10 {left === 1 ? "is" : "are"} left.
          </p>
          <ButtonLink href={RECOVERY_CODES_PAGE} size="small">
            {left === 0 ? "Make recovery codes" : "Make new ones"}
          </ButtonLink>
        </div>
      ) : (
        <p className="text-muted">They come with a passkey or an authenticator app.</p>
      )}
    </SectionCard>
  );
}
