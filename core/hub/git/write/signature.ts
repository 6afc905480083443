import { type Actor, actorId, type Publisher } from "../../../access/actor.ts";
import { isPresetName } from "../../../accounts/publishers/presets.ts";
import { publisherName } from "../../../accounts/publishers/publisher-name.ts";
import { db } from "../../../db.ts";
import { env } from "../../../env.ts";

/** Who made a commit and when, as git writes it: `Name <address> seconds zone`. */
export type Signature = string;

/**
 * The signature of whoever acts. The address is one that receives nothing: a person's own is for them alone, and a commit is for
 * everybody who may ever read the repository. It begins with the id, so that it leads to the person whatever they are called later.
 */
export async function signatureOf(actor: Actor): Promise<Signature> {
  if (actor.kind === "publisher") return signatureOfJob(actor);
  const id = actorId(actor);
  const user = id ? await db().user.findUnique({ where: { id }, select: { id: true, username: true, fullName: true } }) : null;
  const name = user ? user.fullName || user.username : env().BRAND_NAME;
  return sign(name, user ? noReplyAddress(user) : `noreply@${noReplyHost()}`);
}

/** Nobody's: it names the publisher, which is nobody's id, and so leads to no account. */
async function signatureOfJob({ publisherId }: Publisher): Promise<Signature> {
  const publisher = await db().trustedPublisher.findUnique({ where: { id: publisherId }, select: { preset: true } });
  const name = publisherName(publisher && isPresetName(publisher.preset) ? publisher.preset : "oidc");
  return sign(name, `oidc+${publisherId}@${noReplyHost()}`);
}

export function noReplyAddress({ id, username }: { id: string; username: string }): string {
  return `${id}+${username}@${noReplyHost()}`;
}

const noReplyHost = (): string => `users.noreply.${new URL(env().ORIGIN).hostname}`;

function sign(name: string, address: string): Signature {
  // What git cuts off itself, and what would end the line or begin the address.
  const plain = name
    .replace(/[\p{Cc}<>]/gu, " ")
    .replace(/^[\s.,:;"'\\]+|(?<![\s.,:;"'\\])[\s.,:;"'\\]+$/g, "")
    .trim();
  return `${plain || "unknown"} <${address}> ${Math.floor(Date.now() / 1000)} +0000`;
}
