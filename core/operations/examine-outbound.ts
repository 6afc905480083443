import type { Actor } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { type Examined, examineAddress } from "../outbound/parse-target.ts";

const URL_MAX_CHARACTERS = 2_000;

export async function examineOutbound(actor: Actor, url: string): Promise<Examined> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  if (url.length > URL_MAX_CHARACTERS) return { outcome: "refused", reason: "the URL is too long" };
  return examineAddress(url);
}
