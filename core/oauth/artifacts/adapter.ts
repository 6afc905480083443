import { type Adapter, type AdapterPayload, errors, Provider } from "oidc-provider";
import { endDelegationsOf } from "#core/access/delegation.ts";
import { recordAboutSomebody } from "#core/audit/record-about-somebody.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { inTransaction } from "#core/db.ts";
import { findClientMetadata } from "../clients/find-client.ts";
import { storeDeviceCode } from "../device/issue-device-code.ts";
import { pollDeviceCode } from "../device/poll-device-code.ts";
import { saveExchange } from "../exchange/exchange-store.ts";
import { INTERACTION_SECONDS } from "../lifetimes.ts";
import { findEngineSession, saveEngineSession } from "../site-session.ts";
import {
  consumeArtifact,
  destroyArtifact,
  findArtifact,
  findArtifactByUid,
  idHash,
  type Payload,
  upsertArtifact,
} from "./artifact-store.ts";
import { findGrant, revokeGrant, saveGrant } from "./grant-store.ts";
import { findStoredInteraction, saveInteractionAnswer } from "./interaction-store.ts";
import { findForgottenRefreshToken, readRefreshTokenId } from "./refresh-token-id.ts";
import { requestRows } from "./request-rows.ts";
import { storeOfParty } from "./store-of-party.ts";
import { isOfAnotherKind, isTokenModel } from "./token-prefix.ts";

/**
 * A client that replays a token within this time probably sent its request twice. A later replay counts as theft (S47,
 * docs/decisions/005).
 */
const BENIGN_REPLAY_SECONDS = 10;

export class PostgresAdapter implements Adapter {
  readonly model: string;

  constructor(model: string) {
    this.model = model;
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    // Postgres cannot store NUL in text, so an ID with NUL is never stored (S51).
    if (id.includes("\0")) return undefined;
    switch (this.model) {
      case "Client":
        return findClientMetadata(id);
      case "Grant":
        return findGrant(id);
      case "Session":
        return findEngineSession(id);
      case "Interaction":
        return findStoredInteraction(id);
      default:
        return this.#findToUse(id);
    }
  }

  async #findToUse(id: string): Promise<Payload | undefined> {
    if (isTokenModel(this.model) && isOfAnotherKind(this.model, id)) return undefined;
    const isAtTokenEndpoint = Provider.ctx?.oidc?.route === "token";
    const isPoll = isAtTokenEndpoint && this.model === "DeviceCode";
    let payload = isPoll ? await pollDeviceCode(id) : await findArtifact(this.model, id);
    if (!payload && this.model === "RefreshToken") payload = await findForgottenRefreshToken(id);
    // The engine would miss a simultaneous second use, so only `consume` detects replays.
    if (payload && isAtTokenEndpoint) delete payload.consumed;
    return payload;
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return findArtifactByUid(this.model, uid);
  }

  /** Users enter their codes on this service's own pages, not on the engine's (docs/decisions/025). */
  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    if (this.model === "Grant") return saveGrant(id, payload as Payload);
    if (this.model === "Session") return saveEngineSession(id, payload as Payload, expiresIn);
    if (this.model === "DeviceCode") return storeDeviceCode(id, payload as Payload, expiresIn);
    // In a protocol request, the engine stores its question. Outside of one, a page of this service stores the user's answer.
    if (this.model === "Interaction" && !Provider.ctx) return saveInteractionAnswer(id, payload as Payload);
    if (this.model === "Interaction") return storeOfParty("Interaction", id, payload as Payload, expiresIn);
    // The user may answer after the request's `exp`. The row is kept as long as an answer is possible, so that a second answer is
    // recognized (RFC 9126 §7.3).
    if (this.model === "PushedAuthorizationRequest") {
      return storeOfParty("PushedAuthorizationRequest", id, payload as Payload, expiresIn + INTERACTION_SECONDS);
    }
    // `saveExchangedToken` sets `exchange` while it runs.
    const { exchange } = requestRows();
    if (this.model === "AccessToken" && exchange) return saveExchange(idHash(id), payload as Payload, expiresIn, exchange);
    await upsertArtifact(this.model, id, payload as Payload, expiresIn);
  }

  /** A replay gets nothing. Unless it is benign, it also ends the tokens that were issued (S43, S44, S47). */
  async consume(id: string): Promise<void> {
    const used = await consumeArtifact(this.model, id);
    if (!used) return;
    if (this.model === "PushedAuthorizationRequest") throw new errors.InvalidRequestUri("request_uri was used before");
    const isBenign = this.model === "RefreshToken" && used.secondsSinceUse <= BENIGN_REPLAY_SECONDS;
    const grantId = used.grantId ?? (this.model === "RefreshToken" ? readRefreshTokenId(id)?.grantId : undefined);
    if (grantId && !isBenign) {
      const ctx = Provider.ctx;
      const from = { ip: ctx?.ip || null, userAgent: ctx?.get("user-agent") || null };
      await revokeReplayedGrant(this.model, grantId, from);
    }
    throw new errors.InvalidGrant(`${this.model} was used before`);
  }

  async destroy(id: string): Promise<void> {
    if (this.model === "Grant") return revokeGrant(id);
    await destroyArtifact(this.model, id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await revokeGrant(grantId);
  }
}

/** Writes one entry, even for repeated replays (S43, S47, S116). */
export async function revokeReplayedGrant(kind: string, grantId: string, from: RequestOrigin): Promise<void> {
  await inTransaction(async (tx) => {
    const [grant] = await tx.oAuthGrant.updateManyAndReturn({
      where: { id: grantId, revokedAt: null },
      data: { revokedAt: new Date() },
      select: { clientId: true, userId: true },
    });
    // Delegations end even if the Grant has already ended: a thief may have created a webhook and then signed out.
    await endDelegationsOf(tx, [grantId]);
    if (!grant) return;
    const { clientId, userId } = grant;
    // The app's managers get the entry, because the app's tokens or codes leak somewhere.
    const app = await tx.oAuthApp.findUnique({ where: { clientId }, select: { ownerOrgId: true } });
    await recordAboutSomebody(tx, {
      type: "oauth_token.replay_detected",
      orgId: app?.ownerOrgId,
      clientId,
      subjectId: userId,
      data: { kind },
      from,
    });
  });
}
