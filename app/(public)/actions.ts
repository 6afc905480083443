"use server";

import { redirect } from "next/navigation";
import { dismissFirstSteps } from "#core/operations/first-steps.ts";
import { formAction } from "../_server/form-action.ts";
import { personAt } from "../_server/scopes.ts";

export const dismissFirstStepsAction = formAction(personAt("/"), {}, async ({ person }) => {
  await dismissFirstSteps(person);
  redirect("/");
});
