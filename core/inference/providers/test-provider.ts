import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { isOutboundFailure } from "../../outbound/request.ts";
import { openUpstream } from "../requests/open-upstream.ts";

const TEST_MS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** A provider's response to a request that costs nothing: the list of its models. */
export type ProviderTest = { isReached: true; models: string[]; milliseconds: number } | { isReached: false; problem: string };

/**
 * Requests a provider's models, with its key and over the same path as inference requests. @throws ServiceError `not_found`, `forbidden`
 */
export async function testProvider(actor: Actor, providerId: string): Promise<ProviderTest> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const provider = isId(providerId) ? await db().inferenceProvider.findUnique({ where: { id: providerId } }) : null;
  if (!provider) throw notFound("Provider");
  const began = performance.now();
  const opened = await openUpstream(provider, { path: "/models", idleMs: TEST_MS, deadlineMs: TEST_MS });
  if (opened.outcome !== "answered") return failed(`It was not reached: ${opened.reason}.`);
  const { status, body, close } = opened;
  try {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of body) {
      pieces.push(piece);
      length += piece.length;
      if (length > MAX_BYTES) return failed("Its list of models is longer than 4 MiB.");
    }
    if (status === 401 || status === 403) return failed(`It refuses the key (status ${status}). Give it another one.`);
    if (status !== 200) return failed(`It answered with status ${status} to ${provider.baseUrl}/models.`);
    const models = modelsIn(Buffer.concat(pieces).toString());
    if (!models) return failed("What it answered is no list of models. Is the address the one before /chat/completions?");
    return { isReached: true, models, milliseconds: Math.round(performance.now() - began) };
  } catch (error) {
    if (isOutboundFailure(error)) return failed(`It broke off: ${error.result.reason}.`);
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
