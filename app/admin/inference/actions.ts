"use server";

import { redirect } from "next/navigation";
import { ServiceError } from "#core/errors.ts";
import { setAllowance } from "#core/inference/metering/allowance.ts";
import { setRates } from "#core/inference/metering/rates.ts";
import { addModel } from "#core/inference/models/add-model.ts";
import { removeModel } from "#core/inference/models/remove-model.ts";
import { addProvider } from "#core/inference/providers/add-provider.ts";
import { removeProvider, rotateProviderKey, setProviderDisabled } from "#core/inference/providers/change-provider.ts";
import { testProvider } from "#core/inference/providers/test-provider.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requireOperator } from "../../_server/operator-page.ts";
import { givenText } from "../../_server/path-segment.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { INFERENCE_PATH, inferencePath } from "./inference-path.ts";

const here = { page: INFERENCE_PATH };

export async function addProviderAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const input = {
        name: form.text("name"),
        baseUrl: form.text("baseUrl"),
        apiKey: form.verbatim("apiKey"),
        isOwnNetworkAllowed: form.isTicked("isOwnNetworkAllowed"),
      };
      await addProvider(await requireOperator(INFERENCE_PATH), input, await requestOrigin());
      redirect(inferencePath("added"));
    },
    here,
  );
}

/** Stays on the page, with what the provider said. */
export async function testProviderAction(providerId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    const tested = await testProvider(await requireOperator(INFERENCE_PATH), providerId);
    if (!tested.isReached) throw new ServiceError("upstream_error", tested.problem);
    const { models, milliseconds } = tested;
    const some = models.slice(0, 8).join(", ");
    const rest = models.length > 8 ? ` and ${models.length - 8} more` : "";
    const has = models.length === 0 ? "It lists no models." : `It has ${some}${rest}.`;
    return { message: `It answered within ${milliseconds.toLocaleString("en")} ms. ${has}` };
  });
}

export async function rotateKeyAction(providerId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const operator = await requireOperator(INFERENCE_PATH);
      await rotateProviderKey(operator, providerId, form.verbatim("apiKey"), await requestOrigin());
      redirect(inferencePath("key"));
    },
    here,
  );
}

export async function setDisabledAction(
  providerId: string,
  isDisabled: boolean,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(
    data,
    async () => {
      await setProviderDisabled(await requireOperator(INFERENCE_PATH), providerId, isDisabled === true, await requestOrigin());
      redirect(inferencePath(isDisabled === true ? "disabled" : "enabled"));
    },
    here,
  );
}

export async function removeProviderAction(providerId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async () => {
      await removeProvider(await requireOperator(INFERENCE_PATH), providerId, await requestOrigin());
      redirect(inferencePath("removed"));
    },
    here,
  );
}

export async function addModelAction(providerId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const input = { name: form.text("model"), upstreamName: form.text("upstreamName"), plans: form.all("plans") };
      await addModel(await requireOperator(INFERENCE_PATH), providerId, input, await requestOrigin());
      redirect(inferencePath("model"));
    },
    here,
  );
}

export async function removeModelAction(modelId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async () => {
      await removeModel(await requireOperator(INFERENCE_PATH), modelId, await requestOrigin());
      redirect(inferencePath("model-removed"));
    },
    here,
  );
}

export async function setAllowanceAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const general = form.text("subject");
      const subject = general === "handle" ? form.text("handle") : general;
      const limits = { monthlyTokens: form.text("monthlyTokens"), monthlyRequests: form.text("monthlyRequests") };
      if (subject === "") throw new ServiceError("invalid_request", "Name a user or an organization.", { field: "handle" });
      await setAllowance(await requireOperator(INFERENCE_PATH), subject, limits, await requestOrigin()).catch(
        (error: unknown) => {
          // The name was typed into a field of its own.
          if (general === "handle" && error instanceof ServiceError && error.field === "subject") {
            throw new ServiceError(error.code, error.message, { field: "handle" });
          }
          throw error;
        },
      );
      redirect(inferencePath("allowance"));
    },
    here,
  );
}

export async function removeAllowanceAction(subject: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async () => {
      await setAllowance(await requireOperator(INFERENCE_PATH), givenText(subject), null, await requestOrigin());
      redirect(inferencePath("allowance"));
    },
    here,
  );
}

export async function setRatesAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const rates = { perUser: form.text("perUser"), perApp: form.text("perApp") };
      await setRates(await requireOperator(INFERENCE_PATH), rates, await requestOrigin());
      redirect(inferencePath("rates"));
    },
    here,
  );
}
