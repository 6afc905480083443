import type { ReactNode } from "react";
import { ActionButton, type ActionButtonProps } from "../_components/action-form.client.tsx";
import { Chip } from "../_components/chip.tsx";
import { SectionCard } from "../_components/page-layout.tsx";
import { RelativeTime } from "../_components/relative-time.tsx";

type SwitchCardProps = Pick<ActionButtonProps, "action"> &
  Readonly<{
    title: string;
    description: string;
    isOn: boolean;
    changedAt: Date | null;
    sentence: string;
    /** The form's field: `1` turns the setting on, `0` off. */
    field: string;
    children: ReactNode;
  }>;

export function SwitchCard({ title, description, isOn, changedAt, sentence, field, action, children }: SwitchCardProps) {
  return (
    <SectionCard
      title={title}
      description={description}
      action={<Chip tone={isOn ? "good" : "neutral"}>{isOn ? "On" : "Off"}</Chip>}
    >
      <div className="grid max-w-reading gap-4">
        <p>
          {sentence}{" "}
          {changedAt && (
            <span className="text-muted">
              Last changed <RelativeTime at={changedAt} />.
            </span>
          )}
        </p>
        {children}
        <ActionButton
          action={action}
          label={title}
          fields={{ [field]: isOn ? "0" : "1" }}
          variant={isOn ? "danger" : "secondary"}
          size="medium"
        >
          {isOn ? "Turn off" : "Turn on"}
        </ActionButton>
      </div>
    </SectionCard>
  );
}
