import { Chip } from "../../_components/chip.tsx";

type UserChipsProps = Readonly<{
  user: Readonly<{ isOperator: boolean; disabledAt: Date | null; emailVerifiedAt: Date | null }>;
}>;

export function UserChips({ user: { isOperator, disabledAt, emailVerifiedAt } }: UserChipsProps) {
  return (
    <>
      {isOperator && <Chip>Operator</Chip>}
      {disabledAt && <Chip tone="bad">Disabled</Chip>}
      {!emailVerifiedAt && <Chip tone="warn">Address not verified</Chip>}
    </>
  );
}
