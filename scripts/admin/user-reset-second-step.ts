import { operatorCommand } from "#core/access/actor.ts";
import { resetSecondStep } from "#core/accounts/second-step/reset-second-step.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { command } from "./command.ts";
import { findUserNamed } from "./find-named.ts";

export const userResetSecondStep = command({
  name: "user reset-second-step",
  summary: "Takes away the passkeys, the authenticator app and the recovery codes of a user who is locked out.",
  notes: ["Be sure who asks: afterwards the password alone signs in. The user is written to."],
  options: { user: { value: "USER", help: "who is locked out", isRequired: true, field: "username" } },
  async run({ user }) {
    const userId = await findUserNamed(user);
    await resetSecondStep(operatorCommand, userId, noOrigin);
    return { json: { id: userId, username: user }, text: `${user} signs in with the password alone now, and was written to.` };
  },
});
