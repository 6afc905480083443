import { operatorCommand } from "#core/access/actor.ts";
import { disableUser } from "#core/accounts/users/disable-user.ts";
import { enableUser } from "#core/accounts/users/enable-user.ts";
import { findUserByUsername } from "#core/accounts/users/find-user.ts";
import { listUsers, type UserState, userStates } from "#core/accounts/users/list-users.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { notFound } from "#core/errors.ts";
import { command, UsageError } from "./command.ts";

const user = { value: "USER", help: "the username", isRequired: true } as const;

export const userList = command({
  name: "user list",
  summary: "Lists users, the newest first, 100 on a page.",
  options: {
    search: { value: "TEXT", help: "the beginning of a name or an e-mail address, or an id" },
    state: { value: "STATE", help: "only these", choices: userStates },
    page: { value: "NUMBER", help: "the page, from 1" },
  },
  async run({ search = "", state, page = "1" }) {
    if (!/^[1-9]\d{0,5}$/.test(page)) throw new UsageError("--page must be a whole number from 1.");
    const query = { text: search, page: Number(page), pageSize: 100, ...(state && { state: state as UserState }) };
    const { items, total } = await listUsers(operatorCommand, query);
    return {
      json: {
        total,
        users: items.map(({ id, username, fullName, email, isOperator, emailVerifiedAt, disabledAt, createdAt }) => ({
          id,
          username,
          full_name: fullName,
          email,
          operator: isOperator,
          email_verified: emailVerifiedAt !== null,
          disabled_at: disabledAt?.toISOString() ?? null,
          created_at: createdAt.toISOString(),
        })),
      },
      text:
        items
          .map(({ username, email, isOperator, disabledAt }) =>
            [username, email, ...(isOperator ? ["operator"] : []), ...(disabledAt ? ["disabled"] : [])].join("\t"),
          )
          .join("\n") || "There are none.",
    };
  },
});

export const userDisable = command({
  name: "user disable",
  summary: "Shuts a user out: all sessions and tokens end, those of apps too.",
  options: { user },
  async run(values) {
    await disableUser(operatorCommand, await idOf(values.user), noOrigin);
    return { json: { disabled: values.user }, text: `${values.user} is disabled.` };
  },
});

export const userEnable = command({
  name: "user enable",
  summary: "Lets a disabled user in again. They sign in anew, and apps ask anew.",
  options: { user },
  async run(values) {
    await enableUser(operatorCommand, await idOf(values.user), noOrigin);
    return { json: { enabled: values.user }, text: `${values.user} is enabled.` };
  },
});

/** Of disabled users too. @throws ServiceError `not_found` */
async function idOf(username: string): Promise<string> {
  const found = await findUserByUsername(username);
  if (!found) throw notFound(`User "${username}"`);
  return found.id;
}
