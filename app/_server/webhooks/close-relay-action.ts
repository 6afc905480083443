"use server";

import { redirect } from "next/navigation";
import { closeRelay } from "#core/relay/close-relay.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../form.ts";
import { givenText } from "../path-segment.ts";
import { requestOrigin } from "../request-origin.ts";
import { requirePerson } from "../session.ts";
import { webhookListPath } from "./webhook-paths.ts";

/** @param name from the page, which may be an old one. */
export async function closeRelayAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  const page = webhookListPath(null);
  return submitForm(data, async () => {
    const person = await requirePerson(page);
    await closeRelay(person, person.userId, givenText(name), await requestOrigin());
    redirect(`${page}?notice=relay-closed`);
  });
}
