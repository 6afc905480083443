import { operatorCommand } from "#core/access/actor.ts";
import { resetSecondStep } from "#core/accounts/second-step/manage-second-step.ts";
import { createUser } from "#core/accounts/users/create-user.ts";
import { disableUser, enableUser } from "#core/accounts/users/disable-user.ts";
import { findUserByUsername } from "#core/accounts/users/find-user.ts";
import { listUsers, type UserState, userStates } from "#core/accounts/users/list-users.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { notFound } from "#core/errors.ts";
import { isMailSent } from "#core/mail/queue-mail.ts";
import { command, listed } from "./command.ts";
import { findUserNamed, pageOption, readPage, readSecret } from "./option-values.ts";

const user = { value: "USER", help: "the username", isRequired: true } as const;

const userCreate = command({
  name: "user create",
  summary: "Creates a user. The e-mail address counts as verified.",
  notes: ["`--password -` reads the password from standard input, so that no shell history contains it."],
  options: {
    username: { value: "NAME", help: "the handle, which is the first part of the user's repositories' names", isRequired: true },
    email: { value: "ADDRESS", help: "the e-mail address", isRequired: true },
    password: { value: "PASSWORD", help: "the password, or - to read it from standard input", isRequired: true },
    "full-name": { value: "NAME", help: "the name shown beside the username", field: "fullName" },
    operator: { help: "may manage the whole service" },
  },
  async run(values) {
    const user = await createUser(
      operatorCommand,
      {
        username: values.username,
        email: values.email,
        password: await readSecret(values.password),
        fullName: values["full-name"],
        isOperator: values.operator,
      },
      noOrigin,
    );
    return {
      json: { id: user.id, username: user.username },
      text: `${values.operator ? "Operator" : "User"} ${user.username} can sign in.\nid: ${user.id}`,
    };
  },
});

const userResetSecondStep = command({
  name: "user reset-second-step",
  summary: "Deletes the passkeys, the authenticator app and the recovery codes of a user who is locked out.",
  notes: ["Verify who is asking: afterwards, one step is enough to sign in. The user is notified by e-mail if SMTP_URL is set."],
  options: { user: { ...user, field: "username" } },
  async run({ user }) {
    const userId = await findUserNamed(user);
    await resetSecondStep(operatorCommand, userId, noOrigin);
    const notice = isMailSent() ? "They are notified by e-mail." : "Tell them: no e-mail is sent without SMTP_URL.";
    return { json: { id: userId, username: user }, text: `${user} now signs in without a second step. ${notice}` };
  },
});

const userList = command({
  name: "user list",
  summary: "Lists users, newest first.",
  options: {
    search: { value: "TEXT", help: "the beginning of a name or an e-mail address, or an ID" },
    state: { value: "STATE", help: "only users in this state", choices: userStates },
    page: pageOption,
  },
  async run({ search = "", state, page }) {
    const query = { text: search, ...readPage(page), ...(state && { state: state as UserState }) };
    const { items, total } = await listUsers(operatorCommand, query);
    const users = items.map(({ id, username, fullName, email, isOperator, emailVerifiedAt, disabledAt, createdAt }) => ({
      id,
      username,
      full_name: fullName,
      email,
      operator: isOperator,
      email_verified: emailVerifiedAt !== null,
      disabled_at: disabledAt?.toISOString() ?? null,
      created_at: createdAt.toISOString(),
    }));
    const lines = items.map(({ username, email, isOperator, disabledAt }) => [
      username,
      email,
      ...(isOperator ? ["operator"] : []),
      ...(disabledAt ? ["disabled"] : []),
    ]);
    return listed({ total, users }, lines);
  },
});

const userDisable = command({
  name: "user disable",
  summary: "Disables a user: all sessions and tokens end, including those of apps.",
  options: { user },
  async run(values) {
    await disableUser(operatorCommand, await idOf(values.user), noOrigin);
    return { json: { disabled: values.user }, text: `${values.user} is disabled.` };
  },
});

const userEnable = command({
  name: "user enable",
  summary: "Enables a disabled user, who must sign in and authorize apps again.",
  options: { user },
  async run(values) {
    await enableUser(operatorCommand, await idOf(values.user), noOrigin);
    return { json: { enabled: values.user }, text: `${values.user} is enabled.` };
  },
});

async function idOf(username: string): Promise<string> {
  const found = await findUserByUsername(username);
  if (!found) throw notFound(`User "${username}"`);
  return found.id;
}

export const userCommands = [userCreate, userResetSecondStep, userList, userDisable, userEnable];
