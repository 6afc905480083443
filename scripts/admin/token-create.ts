import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/create-personal-access-token.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { command, UsageError } from "./command.ts";
import { findUserNamed } from "./find-named.ts";
import { splitWords } from "./split-words.ts";

export const tokenCreate = command({
  name: "token create",
  summary: "Makes a personal access token of a user, and prints it this one time.",
  options: {
    user: { value: "USER", help: "whose token it is", isRequired: true },
    scopes: { value: '"SCOPE …"', help: 'what it may do, such as "read-repos jobs"', isRequired: true },
    expires: { value: "DAYS", help: "when it ends; without it, when it is revoked", field: "expiresInDays" },
    name: { value: "NAME", help: "what the user sees in the list of tokens" },
  },
  async run({ user, scopes, expires, name = "Made by the operator" }) {
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
      text: `${made.token}\n${made.expiresAt ? `Works until ${made.expiresAt.toISOString()}.` : "Works until it is revoked."}`,
    };
  },
});
