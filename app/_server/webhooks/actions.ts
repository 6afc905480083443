"use server";

import { testKinds } from "@keyhook/sdk";
import { redirect } from "next/navigation";
import { ServiceError } from "#core/errors.ts";
import { createWebhook } from "#core/webhooks/manage/create-webhook.ts";
import { deleteWebhook } from "#core/webhooks/manage/delete-webhook.ts";
import { disableWebhook } from "#core/webhooks/manage/disable-webhook.ts";
import { enableWebhook } from "#core/webhooks/manage/enable-webhook.ts";
import { newWebhookSecret } from "#core/webhooks/manage/parse-webhook.ts";
import { updateWebhook } from "#core/webhooks/manage/update-webhook.ts";
import { cancelReplay } from "#core/webhooks/replay/cancel-replay.ts";
import { replayDelivery } from "#core/webhooks/replay/replay-delivery.ts";
import { sendTest } from "#core/webhooks/replay/send-test.ts";
import { startReplay } from "#core/webhooks/replay/start-replay.ts";
import type { FormState } from "../../_components/form-state.ts";
import { targetName } from "../../_components/webhooks/target-name.ts";
import { submitForm } from "../form.ts";
import { givenText } from "../path-segment.ts";
import { requestOrigin } from "../request-origin.ts";
import type { SubmittedForm } from "../submitted-form.ts";
import { findWebhookOwner } from "./find-webhook-owner.ts";
import { submittedWebhook } from "./webhook-form.ts";
import { type WebhookHome, webhookListPath, webhookPath } from "./webhook-paths.ts";

/*
 * Each action takes the owner of the page and the webhook as the browser gives them: whose the webhook is, and whether the person may,
 * is core's decision.
 */

/** Answers with the secret, once, where one was generated; with none to show it goes to the webhook. */
export async function createWebhookAction(home: WebhookHome, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { person, owner, home: name } = await findWebhookOwner(home);
    const signing = form.text("signing");
    const { webhook, secret } = await createWebhook(
      person,
      owner,
      {
        ...submittedWebhook(form),
        secret: signing === "generate" ? { generate: true } : signing === "own" ? form.verbatim("secret") : null,
      },
      await requestOrigin(),
    );
    const page = webhookPath(name, webhook.id);
    if (secret === null) redirect(`${page}?notice=created`);
    return {
      values: { webhookId: webhook.id, target: targetName(webhook), page },
      secret: { label: "Signing secret", value: secret },
    };
  });
}

export async function updateWebhookAction(
  home: WebhookHome,
  webhookId: string,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { person, owner, home: name } = await findWebhookOwner(home);
    const page = webhookPath(name, webhookId);
    const signing = form.text("signing");
    const generated = signing === "generate" ? newWebhookSecret() : undefined;
    const secret = signing === "own" ? form.verbatim("secret") : signing === "none" ? "" : generated;
    const webhook = await updateWebhook(
      person,
      webhookId,
      { ...submittedWebhook(form), ...(secret !== undefined && { secret }) },
      await requestOrigin(),
      owner.id,
    );
    if (generated === undefined) redirect(`${page}?notice=saved`);
    return {
      values: { webhookId, target: targetName(webhook), page },
      secret: { label: "New signing secret", value: generated },
    };
  });
}

export async function setWebhookEnabledAction(
  home: WebhookHome,
  webhookId: string,
  isEnabled: boolean,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, async () => {
    const { person, owner, home: name } = await findWebhookOwner(home);
    const set = isEnabled === true ? enableWebhook : disableWebhook;
    await set(person, webhookId, await requestOrigin(), owner.id);
    redirect(`${webhookPath(name, webhookId)}${isEnabled === true ? "?notice=enabled" : ""}`);
  });
}

export async function deleteWebhookAction(
  home: WebhookHome,
  webhookId: string,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, async () => {
    const { person, owner, home: name } = await findWebhookOwner(home);
    await deleteWebhook(person, webhookId, await requestOrigin(), owner.id);
    redirect(`${webhookListPath(name)}?notice=deleted`);
  });
}

/** How long an action waits for the answer, which is then on the page that it leads to; later ones come by the live tail. */
const WAIT_MS = 4_000;

export async function sendTestAction(
  home: WebhookHome,
  webhookId: string,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, (form) => test(home, webhookId, form));
}

/** The first one, from where the webhook was made; if it is refused, the webhook's page has the button too. */
export async function sendFirstTestAction(home: WebhookHome, data: FormData): Promise<void> {
  let webhookId = "";
  await submitForm(data, (form) => {
    webhookId = form.text("webhookId");
    return test(home, webhookId, form);
  });
  redirect(webhookPath(home, webhookId));
}

async function test(home: WebhookHome, webhookId: string, form: SubmittedForm): Promise<never> {
  const { person, owner, home: name } = await findWebhookOwner(home);
  const kind = testKinds.find((each) => each === form.text("kind"));
  const { deliveryId } = await sendTest(person, webhookId, kind, await requestOrigin(), { ownerId: owner.id, waitMs: WAIT_MS });
  redirect(deliveryHref(webhookPath(name, webhookId), deliveryId));
}

export async function replayDeliveryAction(
  home: WebhookHome,
  webhookId: string,
  deliveryId: string,
  /** The page's query, so that filters hold. */
  query: string,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, async () => {
    const { person, owner, home: name } = await findWebhookOwner(home);
    await replayDelivery(person, webhookId, deliveryId, await requestOrigin(), { ownerId: owner.id, waitMs: WAIT_MS });
    redirect(deliveryHref(webhookPath(name, webhookId), deliveryId, query));
  });
}

export async function replaySelectedAction(
  home: WebhookHome,
  webhookId: string,
  query: string,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { person, owner, home: name } = await findWebhookOwner(home);
    await startReplay(person, webhookId, { deliveryIds: form.all("delivery") }, await requestOrigin(), { ownerId: owner.id });
    redirect(`${webhookPath(name, webhookId)}?${new URLSearchParams(givenText(query).slice(0, QUERY_MAX_CHARACTERS))}`);
  });
}

const HOUR_MS = 3_600_000;
/** Of the page's own address, which a form sends back. */
const QUERY_MAX_CHARACTERS = 2_000;

export async function replayFailedAction(
  home: WebhookHome,
  webhookId: string,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { person, owner, home: name } = await findWebhookOwner(home);
    await startReplay(person, webhookId, { since: submittedSince(form) }, await requestOrigin(), { ownerId: owner.id });
    redirect(webhookPath(name, webhookId));
  });
}

/** So many hours ago, or a time as people write it, of which the time zone is UTC unless it says another. */
function submittedSince(form: SubmittedForm): Date {
  if (form.text("ago") !== "since")
    return new Date(Date.now() - Math.min(Math.max(1, Number(form.text("ago")) || 24), 720) * HOUR_MS);
  const text = form.text("since");
  const since = new Date(/(z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  if (!Number.isNaN(since.getTime())) return since;
  throw new ServiceError("invalid_request", "Write a time such as 2026-11-22 10:00.", { field: "since" });
}

export async function cancelReplayAction(
  home: WebhookHome,
  webhookId: string,
  replayId: string,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, async () => {
    const { person, owner, home: name } = await findWebhookOwner(home);
    await cancelReplay(person, webhookId, replayId, { ownerId: owner.id });
    redirect(webhookPath(name, webhookId));
  });
}

function deliveryHref(page: string, deliveryId: string, query = ""): string {
  const parameters = new URLSearchParams(givenText(query).slice(0, QUERY_MAX_CHARACTERS));
  parameters.set("delivery", givenText(deliveryId).toWellFormed());
  return `${page}?${parameters}`;
}
