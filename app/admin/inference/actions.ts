"use server";

import { redirect } from "next/navigation";
import { ServiceError } from "#core/errors.ts";
import { setAllowance } from "#core/inference/metering/allowance.ts";
import { setRates } from "#core/inference/metering/rates.ts";
import { addModel, removeModel } from "#core/inference/models.ts";
import {
  addProvider,
  removeProvider,
  rotateProviderKey,
  setProviderDisabled,
  testProvider,
} from "#core/inference/providers/change-provider.ts";
import { formAction, text, texts, ticked, verbatim } from "../../_server/form-action.ts";
import { givenText } from "../../_server/paths.ts";
import { operatorAt } from "../../_server/scopes.ts";
import { INFERENCE_PATH, inferencePath } from "../paths.ts";

const scope = operatorAt(INFERENCE_PATH);

export const addProviderAction = formAction(
  scope,
  { name: text, baseUrl: text, apiKey: verbatim, isOwnNetworkAllowed: ticked },
  async ({ operator, input, from }) => {
    await addProvider(operator, input, from);
    redirect(inferencePath("added"));
  },
);

export const testProviderAction = formAction(scope, {}, async ({ operator }, providerId: string) => {
  const tested = await testProvider(operator, providerId);
  if (!tested.isReached) throw new ServiceError("upstream_error", tested.problem);
  const { models, milliseconds } = tested;
  const some = models.slice(0, 8).join(", ");
  const rest = models.length > 8 ? ` and ${models.length - 8} more` : "";
  const has = models.length === 0 ? "It lists no models." : `It lists ${some}${rest}.`;
  return { message: `The provider responded within ${milliseconds.toLocaleString("en")} ms. ${has}` };
});

export const rotateKeyAction = formAction(scope, { apiKey: verbatim }, async ({ operator, input, from }, providerId: string) => {
  await rotateProviderKey(operator, providerId, input.apiKey, from);
  redirect(inferencePath("key"));
});

export const setDisabledAction = formAction(scope, {}, async ({ operator, from }, providerId: string, isDisabled: boolean) => {
  await setProviderDisabled(operator, providerId, isDisabled === true, from);
  redirect(inferencePath(isDisabled === true ? "disabled" : "enabled"));
});

export const removeProviderAction = formAction(scope, {}, async ({ operator, from }, providerId: string) => {
  await removeProvider(operator, providerId, from);
  redirect(inferencePath("removed"));
});

export const addModelAction = formAction(
  scope,
  { name: (form) => form.text("model"), upstreamName: text, plans: texts },
  async ({ operator, input, from }, providerId: string) => {
    await addModel(operator, providerId, input, from);
    redirect(inferencePath("model"));
  },
);

export const removeModelAction = formAction(scope, {}, async ({ operator, from }, modelId: string) => {
  await removeModel(operator, modelId, from);
  redirect(inferencePath("model-removed"));
});

export const setAllowanceAction = formAction(
  scope,
  { subject: text, handle: text, monthlyTokens: text, monthlyRequests: text },
  async ({ operator, input: { subject, handle, ...limits }, from }) => {
    const isOfOne = subject === "handle";
    if (isOfOne ? handle === "" : subject === "")
      throw new ServiceError("invalid_request", "Enter a user or an organization.", { field: "handle" });
    await setAllowance(operator, isOfOne ? handle : subject, limits, from).catch((error: unknown) => {
      // The form has a separate field for the name.
      if (isOfOne && error instanceof ServiceError && error.field === "subject") {
        throw new ServiceError(error.code, error.message, { field: "handle" });
      }
      throw error;
    });
    redirect(inferencePath("allowance"));
  },
);

export const removeAllowanceAction = formAction(scope, {}, async ({ operator, from }, subject: string) => {
  await setAllowance(operator, givenText(subject), null, from);
  redirect(inferencePath("allowance"));
});

export const setRatesAction = formAction(scope, { perUser: text, perApp: text }, async ({ operator, input, from }) => {
  await setRates(operator, input, from);
  redirect(inferencePath("rates"));
});
