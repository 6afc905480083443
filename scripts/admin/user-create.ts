import { operatorCommand } from "#core/access/actor.ts";
import { createUser } from "#core/accounts/users/create-user.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { command } from "./command.ts";
import { readSecret } from "./read-secret.ts";

export const userCreate = command({
  name: "user create",
  summary: "Makes a user. The e-mail address counts as verified.",
  notes: ["`--password -` reads the password from standard input, so that it is in no shell history."],
  options: {
    username: { value: "NAME", help: "the handle under which the user's repositories live", isRequired: true },
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
