import { revalidatePath } from "next/cache";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import type { FormOutcome } from "./form-action.ts";

/** With scripts, unsent input in other forms stays. Without scripts, a redirect keeps a reload from submitting the form again. */
export async function refreshOrRedirect(href: string): Promise<FormOutcome> {
  revalidatePath("/", "layout");
  if ((await headers()).has("next-action")) return {};
  redirect(href);
}
