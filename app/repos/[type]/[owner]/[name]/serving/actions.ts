"use server";

import { revalidatePath } from "next/cache";
import { ServiceError } from "#core/errors.ts";
import { pauseSpace, renewReceiverAddress, restartSpace, setSleepTime } from "#core/spaces/controls/change-runtime.ts";
import { deleteSpaceVariable, setSpaceVariable } from "#core/spaces/variables.ts";
import { formAction, text } from "../../../../../_server/form-action.ts";
import { repoAt } from "../../../../../_server/scopes.ts";

const controls = {
  restart: { perform: restartSpace, message: "Restart requested." },
  pause: { perform: pauseSpace, message: "The app is paused until you restart it." },
  "renew-receiver": { perform: renewReceiverAddress, message: "The receiver has a new URL. The previous one no longer works." },
} as const;

type SpaceControl = keyof typeof controls;

const scope = repoAt("/serving");

export const controlSpaceAction = formAction(scope, {}, async ({ person, repo, from }, control: SpaceControl) => {
  if (!Object.hasOwn(controls, control)) throw notUnderstood();
  await controls[control].perform(person, repo, from);
  revalidatePath("/", "layout");
  return { message: controls[control].message };
});

export const setSleepTimeAction = formAction(scope, { seconds: text }, async ({ person, repo, input, from }) => {
  await setSleepTime(person, repo, Number(input.seconds), from);
  revalidatePath("/", "layout");
  return { message: "Saved." };
});

export const setVariableAction = formAction(
  scope,
  { name: (form) => form.text("key"), value: text, isSecret: (form) => form.text("kind") === "secret" },
  async ({ person, repo, input, from }) => {
    await setSpaceVariable(person, repo, input, from);
    revalidatePath("/", "layout");
    return { message: `${input.name} set. If the app was running or had failed, it restarts.`, values: {} };
  },
);

export const deleteVariableAction = formAction(
  scope,
  {},
  async ({ person, repo, from }, variable: { name: string; isSecret: boolean }) => {
    const { name, isSecret } = Object(variable) as { name: unknown; isSecret: unknown };
    if (typeof name !== "string") throw notUnderstood();
    await deleteSpaceVariable(person, repo, { name, isSecret: isSecret === true }, from);
    revalidatePath("/", "layout");
    return { message: `${name} deleted. If the app was running or had failed, it restarts.` };
  },
);

const notUnderstood = () => new ServiceError("invalid_request", "This form could not be read. Reload the page and try again.");
