import { revalidatePath } from "next/cache";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import type { FormOutcome } from "./form-action.ts";

/**
 * Shows the change in place. With scripts the browser stays on the page, so that unsent input in other forms is kept. Without scripts the
 * browser is redirected to `href`, so that a reload does not submit the form again.
 */
export async function refreshOrRedirect(href: string): Promise<FormOutcome> {
  revalidatePath("/", "layout");
  if ((await headers()).has("next-action")) return {};
  redirect(href);
}
