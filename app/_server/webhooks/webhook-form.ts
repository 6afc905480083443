import { type WatchedItemInput, watchTypes } from "@keyhook/sdk";
import { ServiceError } from "#core/errors.ts";
import type { NewWebhook } from "#core/webhooks/manage/create-webhook.ts";
import type { SubmittedForm } from "../submitted-form.ts";

/** What the form says about whom to tell of what. Of the two targets the chosen one counts, whatever is left in the other. */
export function submittedWebhook(form: SubmittedForm): Pick<NewWebhook, "url" | "jobSourceId" | "watched" | "domains"> {
  const domains = form.all("domains");
  // To core none means all; a person who unticked every box means something else.
  if (domains.length === 0) throw new ServiceError("invalid_request", "Choose at least one domain.", { field: "domains" });
  return { ...submittedTarget(form), watched: submittedItems(form), domains };
}

/** An empty choice of a job leaves it as it is. */
function submittedTarget(form: SubmittedForm): Pick<NewWebhook, "url" | "jobSourceId"> {
  if (form.text("target") !== "job") return { url: form.text("url") };
  const jobSourceId = form.optional("jobSourceId");
  return jobSourceId === null ? {} : { jobSourceId };
}

/** `type:name` of each, from boxes and from a line that may have several. */
function submittedItems(form: SubmittedForm): WatchedItemInput[] {
  return itemTexts(form).map((text) => {
    const [, type = "", name = ""] = /^([a-z]+):(.+)$/s.exec(text) ?? [];
    const known = watchTypes.find((each) => each === type);
    if (known) return { type: known, name };
    const sentence = `Write ${text.slice(0, 100)} with its type before it: one of ${watchTypes.map((each) => `${each}:`).join(", ")} and the name.`;
    throw new ServiceError("invalid_request", sentence, { field: "watched" });
  });
}

const itemTexts = (form: SubmittedForm): string[] => form.all("watched").flatMap((text) => text.split(/[\s,]+/).filter(Boolean));
