import type { IncomingMessage, ServerResponse } from "node:http";
import { type Interaction as EngineInteraction, errors } from "oidc-provider";
import { pool } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { idHash } from "../artifacts/artifact-store.ts";
import { findStoredInteraction, INTERACTION_ENDED } from "../artifacts/interaction-store.ts";
import { findClientRecord } from "../clients/client-records.ts";
import { currentProvider } from "../provider.ts";

/**
 * The user's side of an authorization request: the engine's question and the user's answer. Pages are rendered and submitted outside the
 * engine, so these functions get the only thing that identifies a request there: its cookies.
 */
export type InteractionCookies = {
  /** The `Cookie` header of the page's request. The engine verifies the signature of its own cookies in it. */
  cookie: string;
  /** From the page's URL; must be the interaction that the cookie names. */
  uid: string;
};

export type Interaction = EngineInteraction;

/** The parts of a request that the engine's public interaction functions read. They send nothing, so the response is a stub. */
function shim({ cookie, uid }: InteractionCookies): [IncomingMessage, ServerResponse] {
  const req = { headers: { cookie }, url: `/interaction/${uid}`, method: "GET", socket: {} };
  const res = { getHeader: () => undefined, setHeader: () => undefined };
  return [req as unknown as IncomingMessage, res as unknown as ServerResponse];
}

export const ANOTHER_ACCOUNT = "You are now signed in with another account. Check the page and decide again.";

/**
 * This browser's current interaction.
 * @throws ServiceError `gone` if it has expired, was already answered, or belongs to another browser (S25).
 */
export async function readInteraction(at: InteractionCookies): Promise<Interaction> {
  const interaction = await currentInteraction(at);
  if (!interaction || interaction.result) throw new ServiceError("gone", INTERACTION_ENDED);
  return interaction;
}

/** The URL at which a browser continues after a second click: that answer does not count, but the user must be able to continue. */
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

/**
 * The name of the app whose request waits for a sign-in, for the sign-in page, which gets no cookie of the interaction. Only the browser
 * that was redirected there knows the ID.
 */
export async function findWaitingApp(uid: string): Promise<string | undefined> {
  const params = (await findStoredInteraction(uid))?.params as { client_id?: unknown } | undefined;
  return params && (await findClientRecord(String(params.client_id)))?.name;
}

/** When the interaction began, to the millisecond: the engine's `iat` cannot tell a sign-in just before it from one after it. */
export async function interactionStartedAt({ uid }: InteractionCookies): Promise<Date> {
  const { rows } = await pool().query<{ startedAt: Date }>({
    name: "interaction-started-at",
    text: `SELECT created_at AS "startedAt" FROM oauth_artifact WHERE model = 'Interaction' AND id_hash = $1`,
    values: [idHash(uid)],
  });
  if (!rows[0]) throw new ServiceError("gone", INTERACTION_ENDED);
  return rows[0].startedAt;
}

/**
 * Answers the interaction; the browser continues at the returned URL, where the engine takes over again.
 * @throws ServiceError `gone` if another answer was first
 */
export async function answerInteraction(
  at: InteractionCookies,
  result: Parameters<Awaited<ReturnType<typeof currentProvider>>["interactionResult"]>[2],
): Promise<string> {
  const provider = await currentProvider();
  return provider.interactionResult(...shim(at), result, { mergeWithLastSubmission: true });
}
