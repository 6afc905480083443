import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { ServiceError } from "../../errors.ts";

/** The user and client of an inference request, and who pays for it. */
export type InferenceAccount = {
  userId: string;
  /** Empty for a personal access token. */
  clientId: string;
  /** Set for an exchanged token: the organization pays, not the user. */
  orgId: string | null;
  /** Whose meter it is: the organization's or the user's. */
  ownerId: string;
};

/**
 * The account of an inference request. Requests with an exchanged token are metered to the organization that it is bound to
 * (docs/specification/jobs-and-spaces.md#inference); all others to the user.
 * @throws ServiceError `insufficient_scope` (inference-api), `forbidden`, `unauthorized`
 */
export async function requireInferenceAccount(actor: Actor): Promise<InferenceAccount> {
  const userId = actorId(actor);
  const orgId = (actor.kind === "token" && actor.boundOrgId) || null;
  const owner = orgId ? { ownerUserId: null, ownerOrgId: orgId } : { ownerUserId: userId, ownerOrgId: null };
  await requirePermission(actor, "inference.use", owner, { what: "Inference" });
  // A CI job's token and the operator's command have no user to meter; neither has the right or a way in.
  if (!userId) throw new ServiceError("forbidden", "Inference is for people's tokens only.");
  return { userId, clientId: clientIdOf(actor) ?? "", orgId, ownerId: orgId ?? userId };
}
