import { type Adapter, type AdapterPayload, errors, Provider } from "oidc-provider";
import {
  consumeArtifact,
  destroyArtifact,
  findArtifact,
  findArtifactByUid,
  idHash,
  type Payload,
  upsertArtifact,
} from "./artifact-store.ts";
import { findClientMetadata } from "./clients.ts";
import { pollDeviceCode } from "./device/poll-device-code.ts";
import { storeDeviceCode } from "./device/store-device-code.ts";
import { saveExchange } from "./exchange/save-exchange.ts";
import { findInteraction, saveAnswer } from "./find-interaction.ts";
import { findGrant, revokeGrant, saveGrant } from "./grant-store.ts";
import { INTERACTION_SECONDS } from "./lifetimes.ts";
import { requestRows } from "./request-rows.ts";
import { revokeReplayedGrant } from "./revoke-replayed-grant.ts";
import { isUnderEndedSiteSession, saveEngineSession } from "./save-engine-session.ts";
import { isSiteSessionOf } from "./site-session.ts";
import { storeOfParty } from "./store-of-party.ts";
import { isOfAnotherKind, isTokenModel } from "./token-prefix.ts";

/**
 * A refresh token replayed within this time is taken for a client that sent its request twice, or two tabs that refreshed at
 * once: it is refused, and the family lives. Later it is taken for theft, and the family ends (S47; docs/decisions/005).
 */
export const BENIGN_REPLAY_SECONDS = 10;

/** What the engine stores, in Postgres. One instance for each of its models; the models differ only where named here. */
export class PostgresAdapter implements Adapter {
  readonly model: string;

  constructor(model: string) {
    this.model = model;
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    // Postgres has no NUL in text; no artifact of ours has one in its id either (S51).
    if (id.includes("\0")) return undefined;
    switch (this.model) {
      case "Client":
        return findClientMetadata(id);
      case "Grant":
        return findGrant(id);
      case "Session":
        return this.#findSession(id);
      case "Interaction":
        return findInteraction(id);
      default:
        return this.#findToUse(id);
    }
  }

  /**
   * An engine session serves only while the person's site session is alive and belongs to the same person (S34). One that was used
   * under an earlier site session, which is over, is left for its apps to be told (back-channel-logout/end-engine-sessions.ts).
   */
  async #findSession(id: string): Promise<Payload | undefined> {
    const payload = await findArtifact("Session", id);
    if (!payload || typeof payload.accountId !== "string") return payload;
    if (!(await isSiteSessionOf(payload.accountId))) return undefined;
    return (await isUnderEndedSiteSession(payload)) ? undefined : payload;
  }

  /**
   * At the token endpoint the engine looks whether an artifact was used before it marks it as used, and so misses whoever does
   * both at the same moment. It is not told: there `consume` alone decides, for a replay in parallel and for a later one.
   */
  async #findToUse(id: string): Promise<Payload | undefined> {
    if (isTokenModel(this.model) && isOfAnotherKind(this.model, id)) return undefined;
    const isAtTokenEndpoint = Provider.ctx?.oidc?.route === "token";
    const isPoll = isAtTokenEndpoint && this.model === "DeviceCode";
    const payload = isPoll ? await pollDeviceCode(id) : await findArtifact(this.model, id);
    if (payload && isAtTokenEndpoint) delete payload.consumed;
    return payload;
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return findArtifactByUid(this.model, uid);
  }

  /** The engine's own device pages would ask; people enter their codes on ours (docs/decisions/025). */
  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    if (this.model === "Grant") return saveGrant(id, payload as Payload);
    if (this.model === "Session") return saveEngineSession(id, payload as Payload, expiresIn);
    if (this.model === "DeviceCode") return storeDeviceCode(id, payload as Payload, expiresIn);
    // The engine stores the question while it handles a request, and the answer when a page of ours calls it.
    if (this.model === "Interaction" && !Provider.ctx) return saveAnswer(id, payload as Payload);
    if (this.model === "Interaction") return storeOfParty("Interaction", id, payload as Payload, expiresIn);
    // A pushed request is good for its minute (its `exp`), and is used up when the person has answered, which may be much later:
    // until then it must be remembered, or it could be answered twice (RFC 9126 §7.3).
    if (this.model === "PushedAuthorizationRequest") {
      return storeOfParty("PushedAuthorizationRequest", id, payload as Payload, expiresIn + INTERACTION_SECONDS);
    }
    const { exchange } = requestRows();
    if (this.model === "AccessToken" && exchange) return saveExchange(idHash(id), payload as Payload, expiresIn, exchange);
    await upsertArtifact(this.model, id, payload as Payload, expiresIn);
  }

  /** Whoever is not the first to use an artifact has replayed it: nothing is issued, and what was issued ends (S43, S44, S47). */
  async consume(id: string): Promise<void> {
    const used = await consumeArtifact(this.model, id);
    if (!used) return;
    if (this.model === "PushedAuthorizationRequest") throw new errors.InvalidRequestUri("request_uri was used before");
    const isBenign = this.model === "RefreshToken" && used.secondsSinceUse <= BENIGN_REPLAY_SECONDS;
    const { grantId } = used;
    if (grantId && !isBenign) {
      const ctx = Provider.ctx;
      const from = { ip: ctx?.ip || null, userAgent: ctx?.get("user-agent") || null };
      await revokeReplayedGrant(this.model, { ...used, grantId }, from);
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
