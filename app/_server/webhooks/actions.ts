"use server";

import { testKinds, type WatchedItemInput, watchTypes } from "@keyhook/sdk";
import { redirect } from "next/navigation";
import { ServiceError } from "#core/errors.ts";
import { closeRelay } from "#core/relay/close-relay.ts";
import { deleteView, saveView } from "#core/webhooks/activity/saved-views.ts";
import { createWebhook, type NewWebhook } from "#core/webhooks/manage/create-webhook.ts";
import { deleteWebhook } from "#core/webhooks/manage/delete-webhook.ts";
import { disableWebhook, enableWebhook } from "#core/webhooks/manage/enable-webhook.ts";
import { newWebhookSecret } from "#core/webhooks/manage/parse-webhook.ts";
import { updateWebhook } from "#core/webhooks/manage/update-webhook.ts";
import { replayDelivery } from "#core/webhooks/replay/replay-delivery.ts";
import { sendTest } from "#core/webhooks/replay/send-test.ts";
import { cancelReplay, startReplay } from "#core/webhooks/replay/start-replay.ts";
import { targetName } from "../../_components/webhooks/webhook-list.tsx";
import { formAction, type Scope, text, verbatim } from "../form-action.ts";
import type { OwnerPage } from "../owner-page.ts";
import { givenText, type OwnerName, webhookListPath, webhookPath } from "../paths.ts";
import { personAt } from "../scopes.ts";
import { SubmittedForm } from "../submitted-form.ts";
import { findWebhooksPage } from "./find-webhook-page.ts";

/** core checks the webhook's owner and the user's rights. */
const scope: Scope<[home: OwnerName], OwnerPage> = { argumentCount: 1, enter: (_form, home) => findWebhooksPage(home) };

const webhookFields = { webhook: submittedWebhook, signing: text, secret: verbatim };

export const createWebhookAction = formAction(scope, webhookFields, async ({ person, owner, home, input, from }) => {
  const { signing } = input;
  const asked = signing === "generate" ? ({ generate: true } as const) : signing === "own" ? input.secret : null;
  const { webhook, secret } = await createWebhook(person, owner, { ...input.webhook, secret: asked }, from);
  const page = webhookPath(home, webhook.id);
  if (secret === null) redirect(`${page}?notice=created`);
  return {
    values: { webhookId: webhook.id, target: targetName(webhook), page, ...(webhook.job && { isJob: "1" }) },
    secret: { label: "Signing secret", value: secret },
  };
});

export const updateWebhookAction = formAction(
  scope,
  webhookFields,
  async ({ person, owner, home, input, from }, webhookId: string) => {
    const page = webhookPath(home, webhookId);
    const { signing } = input;
    const generated = signing === "generate" ? newWebhookSecret() : undefined;
    const secret = signing === "own" ? input.secret : signing === "none" ? "" : generated;
    const changes = { ...input.webhook, ...(secret !== undefined && { secret }) };
    const webhook = await updateWebhook(person, webhookId, changes, from, owner.id);
    if (generated === undefined) redirect(`${page}?notice=saved`);
    return {
      values: { webhookId, target: targetName(webhook), page, ...(webhook.job && { isJob: "1" }) },
      secret: { label: "New signing secret", value: generated },
    };
  },
);

export const setWebhookEnabledAction = formAction(
  scope,
  {},
  async ({ person, owner, home, from }, webhookId: string, isEnabled: boolean) => {
    const set = isEnabled === true ? enableWebhook : disableWebhook;
    await set(person, webhookId, from, owner.id);
    redirect(`${webhookPath(home, webhookId)}${isEnabled === true ? "?notice=enabled" : ""}`);
  },
);

export const deleteWebhookAction = formAction(scope, {}, async ({ person, owner, home, from }, webhookId: string) => {
  await deleteWebhook(person, webhookId, from, owner.id);
  redirect(`${webhookListPath(home)}?notice=deleted`);
});

/** An action waits this long, so that the next page mostly shows the target's response. The live tail shows later responses. */
const WAIT_MS = 4_000;

const kind = (form: SubmittedForm) => testKinds.find((each) => each === form.text("kind"));

export const sendTestAction = formAction(scope, { kind }, async ({ person, owner, home, input, from }, webhookId: string) => {
  const { deliveryId } = await sendTest(person, webhookId, input.kind, from, { ownerId: owner.id, waitMs: WAIT_MS });
  redirect(deliveryHref(webhookPath(home, webhookId), deliveryId));
});

export async function sendFirstTestAction(home: OwnerName, data: FormData): Promise<void> {
  const webhookId = new SubmittedForm(data).text("webhookId");
  await sendTestAction(home, webhookId, { values: {}, errors: {} }, data);
  redirect(webhookPath(home, webhookId));
}

export const replayDeliveryAction = formAction(
  scope,
  {},
  async ({ person, owner, home, from }, webhookId: string, deliveryId: string, query: string) => {
    await replayDelivery(person, webhookId, deliveryId, from, { ownerId: owner.id, waitMs: WAIT_MS });
    redirect(deliveryHref(webhookPath(home, webhookId), deliveryId, query));
  },
);

export const replaySelectedAction = formAction(
  scope,
  { deliveryIds: (form) => form.all("delivery") },
  async ({ person, owner, home, input, from }, webhookId: string, query: string) => {
    await startReplay(person, webhookId, input, from, { ownerId: owner.id });
    redirect(`${webhookPath(home, webhookId)}${withQuery(query)}`);
  },
);

const HOUR_MS = 3_600_000;
const QUERY_MAX_CHARACTERS = 2_000;

export const replayFailedAction = formAction(
  scope,
  { since: submittedSince },
  async ({ person, owner, home, input, from }, webhookId: string) => {
    await startReplay(person, webhookId, input, from, { ownerId: owner.id });
    redirect(webhookPath(home, webhookId));
  },
);

function submittedSince(form: SubmittedForm): Date {
  if (form.text("ago") !== "since")
    return new Date(Date.now() - Math.min(Math.max(1, Number(form.text("ago")) || 24), 720) * HOUR_MS);
  const since = new Date(form.text("sinceInUtc") || `${form.text("since")}Z`);
  if (!Number.isNaN(since.getTime())) return since;
  throw new ServiceError("invalid_request", "Enter a date and a time.", { field: "since" });
}

export const cancelReplayAction = formAction(scope, {}, async ({ person, owner, home }, webhookId: string, replayId: string) => {
  await cancelReplay(person, webhookId, replayId, { ownerId: owner.id });
  redirect(webhookPath(home, webhookId));
});

export const saveViewAction = formAction(
  scope,
  { name: text },
  async ({ person, owner, home, input }, webhookId: string, query: string) => {
    const filters = withQuery(query);
    await saveView(person, webhookId, { name: input.name, query: filters }, { ownerId: owner.id });
    redirect(`${webhookPath(home, webhookId)}${filters}`);
  },
);

export const deleteViewAction = formAction(
  scope,
  {},
  async ({ person, owner, home }, webhookId: string, name: string, query: string) => {
    await deleteView(person, webhookId, givenText(name), { ownerId: owner.id });
    redirect(`${webhookPath(home, webhookId)}${withQuery(query)}`);
  },
);

/** @param query from the browser, so it may have any value */
const withQuery = (query: string): string => `?${new URLSearchParams(givenText(query).slice(0, QUERY_MAX_CHARACTERS))}`;

function deliveryHref(page: string, deliveryId: string, query = ""): string {
  const parameters = new URLSearchParams(givenText(query).slice(0, QUERY_MAX_CHARACTERS));
  parameters.set("delivery", givenText(deliveryId).toWellFormed());
  return `${page}?${parameters}`;
}

/** Only users have relays. @param name from the page, which may be out of date */
export const closeRelayAction = formAction(personAt(webhookListPath(null)), {}, async ({ person, page, from }, name: string) => {
  await closeRelay(person, person.userId, givenText(name), from);
  redirect(`${page}?notice=relay-closed`);
});

function submittedWebhook(form: SubmittedForm): Pick<NewWebhook, "name" | "url" | "jobSourceId" | "watched" | "events"> {
  const events = form.all("events");
  // For core an empty list means all kinds, but no ticked box means none. core refuses `[""]`.
  const ticked = form.text("hears") === "some" ? (events.length > 0 ? events : [""]) : testKinds;
  return { name: form.text("name"), ...submittedTarget(form), watched: submittedItems(form), events: ticked };
}

/** If no job is chosen, the current one stays. */
function submittedTarget(form: SubmittedForm): Pick<NewWebhook, "url" | "jobSourceId"> {
  if (form.text("target") !== "job") return { url: form.text("url") };
  const jobSourceId = form.optional("jobSourceId");
  return jobSourceId === null ? {} : { jobSourceId };
}

const ITEM = new RegExp(`^(${watchTypes.join("|")}):(.+)$`, "s");

/** More items than core accepts. A form may have megabytes of items (S137). */
const ITEMS_MAX = 2_000;

/** `type:name` from checkboxes, and from a text field that may contain several. core refuses items without a known type. */
function submittedItems(form: SubmittedForm): WatchedItemInput[] {
  const texts = form.all("watched").flatMap((text) => text.split(/[\s,]+/, ITEMS_MAX).filter(Boolean));
  return texts.slice(0, ITEMS_MAX).map((text) => {
    const [, type = "", name = text] = ITEM.exec(text) ?? [];
    return { type, name } as WatchedItemInput;
  });
}
