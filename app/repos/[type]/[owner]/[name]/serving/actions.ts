"use server";

import { revalidatePath } from "next/cache";
import { ServiceError } from "#core/errors.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import { pauseSpace } from "#core/spaces/controls/pause-space.ts";
import { renewReceiverAddress } from "#core/spaces/controls/renew-receiver-address.ts";
import { restartSpace } from "#core/spaces/controls/restart-space.ts";
import { setSleepTime } from "#core/spaces/controls/set-sleep-time.ts";
import { deleteSpaceVariable, setSpaceVariable } from "#core/spaces/variables/change-variables.ts";
import type { FormState } from "../../../../../_components/form-state.ts";
import { submitForm } from "../../../../../_server/form.ts";
import { submittedRepoName } from "../../../../../_server/repo-page.ts";
import { requestOrigin } from "../../../../../_server/request-origin.ts";
import { requirePerson } from "../../../../../_server/session.ts";

/** What the buttons of a Space do, with what is said once it is done. */
const controls = {
  restart: { perform: restartSpace, said: "It is being started." },
  pause: { perform: pauseSpace, said: "It is paused until you restart it." },
  "renew-receiver": { perform: renewReceiverAddress, said: "It has another address. The one before leads nowhere now." },
} as const;

export type SpaceControl = keyof typeof controls;

/** @param wanted names the Space, as each action here takes it; whether the person may is core's decision. */
export async function controlSpaceAction(
  wanted: RepoName,
  control: SpaceControl,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, async () => {
    const [person, name] = [await requirePerson("/"), submittedRepoName(wanted)];
    if (!Object.hasOwn(controls, control)) throw new ServiceError("invalid_request", "This form was not understood.");
    await controls[control].perform(person, name, await requestOrigin());
    revalidatePath("/", "layout");
    return { message: controls[control].said };
  });
}

export async function setSleepTimeAction(wanted: RepoName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const [person, name] = [await requirePerson("/"), submittedRepoName(wanted)];
    await setSleepTime(person, name, Number(form.text("seconds")), await requestOrigin());
    revalidatePath("/", "layout");
    return { message: "Saved." };
  });
}

export async function setVariableAction(wanted: RepoName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const [person, name] = [await requirePerson("/"), submittedRepoName(wanted)];
    const variable = { name: form.text("key"), value: form.text("value"), isSecret: form.text("kind") === "secret" };
    await setSpaceVariable(person, name, variable, await requestOrigin());
    revalidatePath("/", "layout");
    return { message: `${variable.name} is set. The Space starts again with it.`, values: {} };
  });
}

export async function deleteVariableAction(
  wanted: RepoName,
  variable: { name: string; isSecret: boolean },
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, async () => {
    const [person, name] = [await requirePerson("/"), submittedRepoName(wanted)];
    const { name: key, isSecret } = Object(variable) as { name: unknown; isSecret: unknown };
    if (typeof key !== "string") throw new ServiceError("invalid_request", "This form was not understood.");
    await deleteSpaceVariable(person, name, { name: key, isSecret: isSecret === true }, await requestOrigin());
    revalidatePath("/", "layout");
    return { message: `${key} is removed.` };
  });
}
