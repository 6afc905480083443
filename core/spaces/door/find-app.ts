import { type Actor, anonymous, operatorCommand, personActor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { findSessionPerson } from "../../accounts/sessions/find-site-session.ts";
import { isServiceError, notFound } from "../../errors.ts";
import { countAgainst } from "../../fair-queue/party.ts";
import { findRepo } from "../../hub/repos/find-repo.ts";
import { type Repo, repoResource } from "../../hub/repos/repo.ts";
import { appPath, isLikeVisitorSegment, readVisitorSegment, type Visitor, visitorSegment } from "../app-address.ts";
import { readSpaceRuntime, type SpaceRuntime } from "../space-runtime.ts";

type Credentials = {
  method: string;
  byToken?: () => Promise<Actor>;
  bySession?: () => Promise<Parameters<typeof personActor>[0] | undefined>;
};

export type FoundApp =
  /** The path before the app's own path. It ends in a slash, and contains the visitor segment if there is one. */
  | { kind: "app"; repo: Repo; runtime: SpaceRuntime | undefined; base: string; path: string; isOpen: boolean }
  | { kind: "elsewhere"; path: string };

/**
 * With only a session cookie, the browser is redirected to a URL that contains a visitor segment. Otherwise another site could
 * make a signed-in browser change a private app.
 */
export async function findApp({ owner, name, rest }: AppTarget, credentials: Credentials): Promise<FoundApp> {
  const wanted = { type: "space", owner, name } as const;
  let refusal: unknown;
  const open = await findRepo(anonymous, wanted, "repo.read_content").catch((error: unknown) => {
    if (!isServiceError(error)) throw error;
    refusal = error;
    return undefined;
  });
  // No permission is required here, so that a segment, a token or a session can be checked against the repository. Nothing is
  // revealed until one of them grants access.
  const repo = open ?? (await findRepo(operatorCommand, wanted).catch(() => undefined));
  if (!repo || repo.platformId !== null) {
    const viewer = await viewerOf(credentials);
    // A member who does not meet the organization's requirements must not learn which private names exist (S136).
    if (viewer) await findRepo(viewer.actor, wanted, "repo.read_content");
    throw refusal ?? notFound("Repository");
  }
  const runtime = await readSpaceRuntime(repo.id);
  const [, segment = "", path] = /^\/?([^/]*)(.*)$/s.exec(rest) ?? [];
  const isFormerOwner = repo.owner.handle.toLowerCase() !== owner.toLowerCase();
  const visitor = readVisitorSegment(repo.id, segment);
  // Deliveries that are meant for another Space or another owner may be private (S151).
  const isMeant = visitor !== undefined && !(visitor.kind === "receiver" && isFormerOwner);
  const isVisiting = isMeant && (await isAdmitted(repo, visitor, runtime, credentials.method));
  if (isVisiting) return { kind: "app", repo, runtime, base: `${appPath(repo)}${segment}/`, path: path || "/", isOpen: false };
  // If the session allows access, an expired URL redirects to a new one.
  const isForAnother = isLikeVisitorSegment(segment);
  const asked = isForAnother || (segment.startsWith("~") && !open) ? path : rest;
  if (!open) {
    const viewer = await viewerOf(credentials);
    if (!viewer) throw refusal;
    await requirePermission(viewer.actor, "repo.read_content", repoResource(repo), { what: "Repository" });
    const { session } = viewer;
    if (!session) return { kind: "app", repo, runtime, base: appPath(repo), path: rest || "/", isOpen: false };
    const generation = runtime?.visitorGeneration ?? 0;
    const visit = visitorSegment(repo.id, { kind: "session", sessionId: session.id, userId: session.userId, generation });
    return { kind: "elsewhere", path: `${appPath(repo)}${visit}${asked?.startsWith("/") ? asked : "/"}` };
  }
  if (isForAnother && !isReading(credentials)) throw notFound("Repository");
  const isCanonicalName = repo.owner.handle === owner && repo.name === name;
  if (isFormerOwner || (isReading(credentials) && (!isCanonicalName || rest === "" || isForAnother)))
    return { kind: "elsewhere", path: appPath(repo) + (asked ?? "").replace(/^\//, "") };
  return { kind: "app", repo, runtime, base: appPath(repo), path: rest || "/", isOpen: true };
}

const isReading = ({ method }: Credentials): boolean => method === "GET" || method === "HEAD";

type Viewer = { actor: Actor; session?: Parameters<typeof personActor>[0] };

async function viewerOf(credentials: Credentials): Promise<Viewer | undefined> {
  if (credentials.byToken) return { actor: await credentials.byToken() };
  const session = isReading(credentials) ? await credentials.bySession?.() : undefined;
  return session && { actor: personActor(session), session };
}

async function isAdmitted(repo: Repo, visitor: Visitor, runtime: SpaceRuntime | undefined, method: string): Promise<boolean> {
  // A receiver can only post, so that its URL cannot be used to view anything.
  if (visitor.kind === "receiver") {
    if (method !== "POST" || visitor.generation !== (runtime?.receiverGeneration ?? 0)) return false;
    // All deliveries come from this service's own address, so they would share one visitor's limit (S137).
    countAgainst({ kind: "receivers", ofParty: runtime?.party ?? repo.owner.id });
    return true;
  }
  if (visitor.generation !== (runtime?.visitorGeneration ?? 0)) return false;
  const session = await findSessionPerson(visitor.sessionId, visitor.userId);
  if (!session) return false;
  const actor = personActor(session);
  countAgainst(actor);
  await requirePermission(actor, "repo.read_content", repoResource(repo), { what: "Repository" });
  return true;
}

export type AppTarget = {
  owner: string;
  name: string;
  /** The rest of the path as it was sent. Empty if not even a slash follows. */
  rest: string;
};

const APP = /^\/spaces\/([^/]+)\/([^/]+)\/app(?=\/|$)/;

/** Requests with such a path go only to the Space's door. */
export const isAppPath = (pathname: string): boolean => APP.test(pathname);

/** @returns undefined if no app can have the path (S137) */
export function parseAppTarget(pathname: string): AppTarget | undefined {
  const [matched = "", owner, name] = APP.exec(pathname) ?? [];
  if (owner === undefined || name === undefined) return undefined;
  const rest = pathname.slice(matched.length);
  // A server that resolves hidden dots or slashes would reach another path than the one that was checked.
  if (rest.split("/").some((segment) => /^(\.|%2e){1,2}$/i.test(segment)) || rest.includes("\\")) return undefined;
  const [decodedOwner, decodedName] = [decodeURIComponent(owner), decodeURIComponent(name)];
  if (`${decodedOwner}${decodedName}`.includes("/")) return undefined;
  return { owner: decodedOwner, name: decodedName, rest };
}
