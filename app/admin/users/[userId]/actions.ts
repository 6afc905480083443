"use server";

import { redirect } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { resetSecondStep } from "#core/accounts/second-step/reset-second-step.ts";
import { disableUser } from "#core/accounts/users/disable-user.ts";
import { enableUser } from "#core/accounts/users/enable-user.ts";
import { endUserSessions } from "#core/accounts/users/end-user-sessions.ts";
import { findUser } from "#core/accounts/users/find-user.ts";
import { setOperator } from "#core/accounts/users/set-operator.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { notFound, ServiceError } from "#core/errors.ts";
import { deleteAccount } from "#core/hub/owners/delete-account.ts";
import { isId } from "#core/ids.ts";
import type { FormState } from "../../../_components/form-state.ts";
import { submitForm } from "../../../_server/form.ts";
import { requireOperator } from "../../../_server/operator-page.ts";
import { givenText } from "../../../_server/path-segment.ts";
import { requestOrigin } from "../../../_server/request-origin.ts";
import type { SubmittedForm } from "../../../_server/submitted-form.ts";
import { USERS_PATH, userPath } from "../users-path.ts";

type Act = (operator: Person, from: RequestOrigin, form: SubmittedForm) => Promise<unknown>;

/** Acts on an account and comes back to its page, which says what was done. */
async function act(userId: string, data: FormData, done: string, work: Act): Promise<FormState> {
  const page = userPath(givenText(userId));
  return submitForm(
    data,
    async (form) => {
      if (!isId(userId)) throw notFound("User");
      await work(await requireOperator(page), await requestOrigin(), form);
      redirect(userPath(userId, done));
    },
    { page },
  );
}

export async function disableAction(userId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return act(userId, data, "disabled", (operator, from) => disableUser(operator, userId, from));
}

export async function enableAction(userId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return act(userId, data, "enabled", (operator, from) => enableUser(operator, userId, from));
}

export async function endSessionsAction(userId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return act(userId, data, "signed-out", (operator, from) => endUserSessions(operator, userId, from));
}

export async function resetSecondStepAction(userId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return act(userId, data, "second-step-reset", (operator, from) => resetSecondStep(operator, userId, from));
}

export async function setOperatorAction(
  userId: string,
  isOperator: boolean,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return act(userId, data, isOperator ? "operator" : "no-operator", (operator, from) =>
    setOperator(operator, userId, isOperator === true, from),
  );
}

export async function deleteAction(userId: string, _previous: FormState, data: FormData): Promise<FormState> {
  const page = userPath(givenText(userId));
  return submitForm(
    data,
    async (form) => {
      const operator = await requireOperator(page);
      if (!isId(userId)) throw notFound("User");
      const user = await findUser(userId);
      if (user && form.text("confirmation") !== user.username) {
        throw new ServiceError("invalid_request", `Type ${user.username} to confirm.`, { field: "confirmation" });
      }
      await deleteAccount(operator, userId, await requestOrigin());
      redirect(`${USERS_PATH}?notice=deleted`);
    },
    { page },
  );
}
