import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { ServiceError } from "../../errors.ts";

/** In whose name an inference request is made, through what, and who pays for it. */
export type InferenceAccount = {
  userId: string;
  /** Empty for a token that the person made for themselves. */
  clientId: string;
  /** Set for an exchanged token: the organization pays, and not the person. */
  orgId: string | null;
  /** Whose meter it is: the organization's or the person's. */
  ownerId: string;
};

/**
 * Who asks for inference. Everything that an exchanged token asks for is metered to the organization that it is bound to
 * (docs/specification/jobs-and-spaces.md#inference); all else to the person.
 * @throws ServiceError `insufficient_scope` (inference-api), `forbidden`, `unauthorized`
 */
export async function requireInferenceAccount(actor: Actor): Promise<InferenceAccount> {
  const userId = actorId(actor);
  const orgId = (actor.kind === "token" && actor.boundOrgId) || null;
  const owner = orgId ? { ownerUserId: null, ownerOrgId: orgId } : { ownerUserId: userId, ownerOrgId: null };
  await requirePermission(actor, "inference.use", owner, { what: "Inference" });
  // A CI job's token or the operator's command has nobody whom it could be metered to; neither has the right or a way in.
  if (!userId) throw new ServiceError("forbidden", "Inference is for people's tokens only.");
  return { userId, clientId: clientIdOf(actor) ?? "", orgId, ownerId: orgId ?? userId };
}
