import type { AskingOrganization } from "#core/accounts/second-step/organizations-asking.ts";

/** Names the organizations that the removal around it closes, and tells core that they were named. */
export function ClosingWarning({ closing }: Readonly<{ closing: readonly AskingOrganization[] }>) {
  if (closing.length === 0) return null;
  const names = closing.map(({ fullName, name }) => fullName || name).join(", ");
  return (
    <>
      {closing.map(({ id }) => (
        <input key={id} type="hidden" name="closes" value={id} />
      ))}
      <p className="mt-2 font-medium text-bad">
        It is your last second step. {names} {closing.length === 1 ? "asks" : "ask"} for one: you no longer reach what is there
        until you have set one up again.
      </p>
    </>
  );
}
