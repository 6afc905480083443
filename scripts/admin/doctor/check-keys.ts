import { db } from "#core/db.ts";
import { loadSigningKeys } from "#core/oauth/keys.ts";
import { type Finding, findings, reason } from "./finding.ts";

const report = findings("signing keys");
const OLD_DAYS = 365;

/** The keys of ID tokens, which only the SECRET_KEY that sealed them opens. */
export async function checkKeys(): Promise<Finding[]> {
  const newest = await db().signingKey.findFirst({ where: { retiredAt: null }, orderBy: { createdAt: "desc" } });
  if (!newest) return [report.ok("none yet: the service makes them as it starts")];
  try {
    const keys = await loadSigningKeys();
    const days = Math.floor((Date.now() - newest.createdAt.getTime()) / 86_400_000);
    if (days > OLD_DAYS) return [report.warn(`${days} days old`, "Make new ones: npm run --silent admin -- keys rotate")];
    return [report.ok(`${keys.length} published, the newest ${days} days old`)];
  } catch (error) {
    const advice = "Start with the SECRET_KEY that the service had before; without it, what was sealed under it is lost.";
    return [report.fail(`SECRET_KEY does not open them (${reason(error)})`, advice)];
  }
}
