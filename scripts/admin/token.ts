import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { command, UsageError } from "./command.ts";
import { findUserNamed, splitWords } from "./option-values.ts";

export const tokenCreate = command({
  name: "token create",
  summary: "Creates a personal access token for a user, and prints it once.",
  options: {
    user: { value: "USER", help: "the owner of the token", isRequired: true },
    scopes: { value: '"SCOPE …"', help: 'what it may do, such as "read-repos jobs"', isRequired: true },
    expires: { value: "DAYS", help: "days until it expires; by default never", field: "expiresInDays" },
    name: { value: "NAME", help: "its name in the user's list of tokens" },
  },
  async run({ user, scopes, expires, name = "Created by the operator" }) {
    if (expires !== undefined && !/^\d+$/.test(expires)) throw new UsageError("--expires must be a whole number of days.");
    const userId = await findUserNamed(user);
    const expiresInDays = expires === undefined ? null : Number(expires);
    const made = await createPersonalAccessToken(
      operatorCommand,
      userId,
      { name, scopes: splitWords(scopes), expiresInDays },
      noOrigin,
    );
    return {
      json: { id: made.id, token: made.token, expires_at: made.expiresAt?.toISOString() ?? null },
      text: `${made.token}\n${made.expiresAt ? `Valid until ${made.expiresAt.toISOString()}.` : "Valid until it is revoked."}`,
    };
  },
});
