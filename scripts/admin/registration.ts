import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { env } from "#core/env.ts";
import { REGISTRATION } from "#core/oauth/protocol-routes.ts";
import { readRegistrationPolicy, setRegistrationPolicy } from "#core/oauth/registration/registration-policy.ts";
import { type Command, command, type Outcome } from "./command.ts";

const notes = [
  "Dynamic registration (RFC 7591) is for programs that support no other way. Today's agents publish a client ID metadata document",
  "instead, which needs no registration and names a website that is responsible for the program.",
];

function outcome(isOn: boolean): Outcome {
  const text = isOn
    ? `Programs may register themselves at ${env().ORIGIN}${REGISTRATION}.`
    : "Programs may not register themselves.";
  return { json: { is_on: isOn }, text };
}

const switchTo = (word: "on" | "off", summary: string): Command =>
  command({
    name: `registration ${word}`,
    summary,
    notes,
    options: {},
    async run() {
      return outcome((await setRegistrationPolicy(operatorCommand, { isOn: word === "on" }, noOrigin)).isOn);
    },
  });

const registrationOn = switchTo("on", "Lets programs register themselves as apps, without an account.");
const registrationOff = switchTo("off", "Stops registration by programs. Apps that are already registered keep working.");

const registrationShow = command({
  name: "registration show",
  summary: "Shows whether programs may register themselves.",
  notes,
  options: {},
  async run() {
    return outcome((await readRegistrationPolicy()).isOn);
  },
});

export const registrationCommands = [registrationOn, registrationOff, registrationShow];
