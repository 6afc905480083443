import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { conflict, invalidRequest, notFound } from "../../errors.ts";
import { isId, newId } from "../../ids.ts";
import { isOutboundFailure } from "../../outbound/request.ts";
import { insertModels } from "../models.ts";
import { openUpstream } from "../requests/upstream.ts";
import { PROVIDERS_MAX, parseApiKey, parseBaseUrl, parseModel, parseProviderName, sealedKey } from "./provider.ts";

type ProviderInput = {
  name: string;
  baseUrl: string;
  apiKey?: string | null;
  /** See docs/decisions/047. */
  isOwnNetworkAllowed?: boolean;
  models?: readonly { name: string; upstreamName?: string | undefined; plans?: readonly string[] }[];
};

export async function addProvider(
  actor: Actor,
  input: ProviderInput,
  from: RequestOrigin,
): Promise<{ id: string; name: string }> {
  const [name, baseUrl, key] = [parseProviderName(input.name), parseBaseUrl(input.baseUrl), parseApiKey(input.apiKey)];
  const models = (input.models ?? []).map(parseModel);
  const isOwnNetworkAllowed = input.isOwnNetworkAllowed === true;
  if (baseUrl.startsWith("http:") && !isOwnNetworkAllowed) {
    throw invalidRequest(
      "Use https: otherwise, prompts and the key travel unencrypted. If the provider is in your own network, select “The provider is in your own network” (--own-network).",
      "baseUrl",
    );
  }
  const id = newId();
  await db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('inference providers', 0))`;
    const others = await tx.inferenceProvider.findMany({ select: { name: true } });
    if (others.some((other) => other.name.toLowerCase() === name.toLowerCase())) {
      throw conflict("A provider with this name already exists. Choose another name.", "name");
    }
    if (others.length >= PROVIDERS_MAX) throw conflict(`There are already ${PROVIDERS_MAX} providers. Delete one first.`);
    await tx.inferenceProvider.create({ data: { id, name, baseUrl, isOwnNetworkAllowed, ...sealedKey(key) } });
    await insertModels(tx, id, models);
    await recordAuditEvent(tx, {
      type: "inference_provider.create",
      actor,
      data: { providerId: id, name, baseUrl, isOwnNetworkAllowed, models: models.map((model) => model.name) },
      from,
    });
  });
  return { id, name };
}

export async function rotateProviderKey(actor: Actor, providerId: string, apiKey: string, from: RequestOrigin): Promise<void> {
  const key = parseApiKey(apiKey);
  if (!key) throw invalidRequest("Enter the new key.", "apiKey");
  await change(actor, providerId, { change: "key" }, from, (tx) =>
    tx.inferenceProvider.update({ where: { id: providerId }, data: sealedKey(key) }),
  );
}

/** Requests in progress continue. */
export async function setProviderDisabled(
  actor: Actor,
  providerId: string,
  isDisabled: boolean,
  from: RequestOrigin,
): Promise<void> {
  await change(actor, providerId, { change: isDisabled ? "disabled" : "enabled" }, from, (tx) =>
    tx.inferenceProvider.update({ where: { id: providerId }, data: { disabledAt: isDisabled ? new Date() : null } }),
  );
}

export async function removeProvider(actor: Actor, providerId: string, from: RequestOrigin): Promise<{ name: string }> {
  return change(actor, providerId, undefined, from, (tx) => tx.inferenceProvider.delete({ where: { id: providerId } }));
}

async function change(
  actor: Actor,
  providerId: string,
  what: { change: string } | undefined,
  from: RequestOrigin,
  work: (tx: Db) => Promise<unknown>,
): Promise<{ name: string }> {
  if (!isId(providerId)) throw notFound("Provider");
  return db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const [provider] = await tx.$queryRaw<{ name: string }[]>`
      SELECT name FROM inference_provider WHERE id = ${providerId} FOR UPDATE`;
    if (!provider) throw notFound("Provider");
    await work(tx);
    await recordAuditEvent(tx, {
      type: what ? "inference_provider.update" : "inference_provider.delete",
      actor,
      data: { providerId, name: provider.name, ...what },
      from,
    });
    return provider;
  });
}

const TEST_MS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;

type ProviderTest = { isReached: true; models: string[]; milliseconds: number } | { isReached: false; problem: string };

export async function testProvider(actor: Actor, providerId: string): Promise<ProviderTest> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const provider = isId(providerId) ? await db().inferenceProvider.findUnique({ where: { id: providerId } }) : null;
  if (!provider) throw notFound("Provider");
  const began = performance.now();
  const opened = await openUpstream(provider, { path: "/models", idleMs: TEST_MS, deadlineMs: TEST_MS });
  if (opened.outcome !== "answered") return failed(`The provider could not be reached: ${opened.reason}.`);
  const { status, body, close } = opened;
  try {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of body) {
      pieces.push(piece);
      length += piece.length;
      if (length > MAX_BYTES) return failed("The provider's list of models is larger than 4 MiB.");
    }
    if (status === 401 || status === 403) return failed(`The provider rejected the key (status ${status}). Replace the key.`);
    if (status !== 200)
      return failed(`The provider responded with status ${status} at ${provider.baseUrl}/models. Check the URL.`);
    const models = modelsIn(Buffer.concat(pieces).toString());
    if (!models) return failed("The response is not a list of models. Enter the URL that comes before /chat/completions.");
    return { isReached: true, models, milliseconds: Math.round(performance.now() - began) };
  } catch (error) {
    if (isOutboundFailure(error)) return failed(`The connection was lost: ${error.result.reason}. Try again.`);
    throw error;
  } finally {
    close();
  }
}

const failed = (problem: string): ProviderTest => ({ isReached: false, problem });

function modelsIn(text: string): string[] | undefined {
  try {
    const { data } = Object(JSON.parse(text)) as { data?: unknown };
    return Array.isArray(data) ? data.map((model) => Object(model).id).filter((id) => typeof id === "string") : undefined;
  } catch {
    return undefined;
  }
}
