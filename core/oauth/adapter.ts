import { type Adapter, type AdapterPayload, errors, Provider } from "oidc-provider";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import { db } from "#core/db.ts";
import {
  consumeArtifact,
  destroyArtifact,
  findArtifact,
  findArtifactByUid,
  findArtifactByUserCode,
  type Payload,
  upsertArtifact,
} from "./artifact-store.ts";
import { findClientMetadata } from "./clients.ts";
import { findGrant, revokeGrant, saveGrant } from "./grant-store.ts";
import { isSiteSessionOf } from "./site-session.ts";

/**
 * A replay within this time is taken for a client that sent its request twice, or two tabs that refreshed at once: it is
 * refused, and the family lives. Later it is taken for theft, and the family is revoked (S47; docs/decisions/005).
 */
const BENIGN_REPLAY_SECONDS = 10;

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
      case "RefreshToken":
        return this.#findRefreshToken(id);
      default:
        return findArtifact(this.model, id);
    }
  }

  /** An engine session serves only while the person's site session is alive and belongs to the same person (S34). */
  async #findSession(id: string): Promise<Payload | undefined> {
    const payload = await findArtifact("Session", id);
    if (!payload || typeof payload.accountId !== "string") return payload;
    return (await isSiteSessionOf(payload.accountId)) ? payload : undefined;
  }

  async #findRefreshToken(id: string): Promise<Payload | undefined> {
    const payload = await findArtifact("RefreshToken", id);
    if (typeof payload?.consumed !== "number" || Provider.ctx?.oidc?.route !== "token") return payload;
    if (Date.now() / 1000 - payload.consumed <= BENIGN_REPLAY_SECONDS) {
      throw new errors.InvalidGrant("refresh token was used a moment ago; use the one that came with the answer");
    }
    await this.#recordReplay(payload);
    return payload;
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return findArtifactByUid(this.model, uid);
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return findArtifactByUserCode(this.model, userCode);
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    if (this.model === "Grant") return saveGrant(id, payload as Payload, expiresIn);
    await upsertArtifact(this.model, id, payload as Payload, expiresIn);
  }

  /**
   * The engine reads whether an artifact was used and marks it later, in two steps; between them a second request may do the
   * same. The mark is therefore one conditional update, and whoever comes second has replayed (S43, S44).
   */
  async consume(id: string): Promise<void> {
    if (await consumeArtifact(this.model, id)) return;
    const payload = await findArtifact(this.model, id);
    const name = this.model === "RefreshToken" ? "refresh token" : "authorization code";
    if (this.model !== "RefreshToken" && typeof payload?.grantId === "string") {
      await revokeGrant(payload.grantId);
      await this.#recordReplay(payload);
    }
    throw new errors.InvalidGrant(`${name} already used`);
  }

  async destroy(id: string): Promise<void> {
    if (this.model === "Grant") return revokeGrant(id);
    await destroyArtifact(this.model, id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await revokeGrant(grantId);
  }

  async #recordReplay(payload: Payload): Promise<void> {
    await recordAuditEvent(db(), {
      type: "oauth_token.replay_detected",
      clientId: typeof payload.clientId === "string" ? payload.clientId : undefined,
      subjectId: typeof payload.accountId === "string" ? payload.accountId : undefined,
      data: { kind: this.model },
    });
  }
}
