import type { IncomingMessage, ServerResponse } from "node:http";
import { type Interaction as EngineInteraction, errors } from "oidc-provider";
import { pool } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { idHash } from "../artifacts/artifact-store.ts";
import { findStoredInteraction, INTERACTION_ENDED } from "../artifacts/interaction-store.ts";
import { findClientRecord } from "../clients/client-records.ts";
import { currentProvider } from "../provider.ts";

export type InteractionCookies = {
  /** The page's `Cookie` header. The engine verifies the signature of its own cookies. */
  cookie: string;
  /** Must be the ID of the interaction that the cookie names. */
  uid: string;
};

export type Interaction = EngineInteraction;

function shim({ cookie, uid }: InteractionCookies): [IncomingMessage, ServerResponse] {
  const req = { headers: { cookie }, url: `/interaction/${uid}`, method: "GET", socket: {} };
  const res = { getHeader: () => undefined, setHeader: () => undefined };
  return [req as unknown as IncomingMessage, res as unknown as ServerResponse];
}

export const ANOTHER_ACCOUNT = "You are now signed in with another account. Check the page and decide again.";

/** @throws ServiceError `gone` if the interaction has ended, or belongs to another browser (S25) */
export async function readInteraction(at: InteractionCookies): Promise<Interaction> {
  const interaction = await currentInteraction(at);
  if (!interaction || interaction.result) throw new ServiceError("gone", INTERACTION_ENDED);
  return interaction;
}

export async function findAnsweredUrl(at: InteractionCookies): Promise<string | undefined> {
  const interaction = await currentInteraction(at);
  return interaction?.result ? interaction.returnTo : undefined;
}

async function currentInteraction(at: InteractionCookies): Promise<Interaction | undefined> {
  const provider = await currentProvider();
  try {
    const interaction = await provider.interactionDetails(...shim(at));
    return interaction.uid === at.uid ? interaction : undefined;
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return undefined;
    throw error;
  }
}

/** Only the browser at the sign-in page knows the ID. */
export async function findWaitingApp(uid: string): Promise<string | undefined> {
  const params = (await findStoredInteraction(uid))?.params as { client_id?: unknown } | undefined;
  return params && (await findClientRecord(String(params.client_id)))?.name;
}

/** The engine's `iat` has whole seconds, so it cannot show whether a sign-in came before or after the interaction began. */
export async function interactionStartedAt({ uid }: InteractionCookies): Promise<Date> {
  const { rows } = await pool().query<{ startedAt: Date }>({
    name: "interaction-started-at",
    text: `SELECT created_at AS "startedAt" FROM oauth_artifact WHERE model = 'Interaction' AND id_hash = $1`,
    values: [idHash(uid)],
  });
  if (!rows[0]) throw new ServiceError("gone", INTERACTION_ENDED);
  return rows[0].startedAt;
}

export async function answerInteraction(
  at: InteractionCookies,
  result: Parameters<Awaited<ReturnType<typeof currentProvider>>["interactionResult"]>[2],
): Promise<string> {
  const provider = await currentProvider();
  return provider.interactionResult(...shim(at), result, { mergeWithLastSubmission: true });
}
