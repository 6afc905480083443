import type { Db } from "../../db.ts";
import { env } from "../../env.ts";
import { conflict, invalidRequest } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { plainText } from "../plain-text.ts";

const HANDLE_MIN_CHARACTERS = 2;
const HANDLE_MAX_CHARACTERS = 39;

// Only ASCII is allowed, which excludes look-alike letters of other scripts.
const SHAPE = /^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$/;
// These endings mean something to git, feeds and content negotiation.
const MISLEADING_ENDING = /\.(git|atom|rss|json|html|xml|txt|js|css|map|ico|png|svg|wiki)$/;

export type HandleName = { spelled: string; canonical: string };

/** See S139. A name cannot have the form of an ID, because some URLs accept either (S101). */
export function parseHandle(value: unknown, field: string): HandleName {
  const spelled = plainText(field, value, 1_000).trim();
  const canonical = spelled.toLowerCase();
  if (spelled.length < HANDLE_MIN_CHARACTERS || spelled.length > HANDLE_MAX_CHARACTERS) {
    throw invalidRequest(`Use ${HANDLE_MIN_CHARACTERS} to ${HANDLE_MAX_CHARACTERS} characters.`, field);
  }
  if (!SHAPE.test(spelled)) {
    throw invalidRequest("Use letters, digits and single . _ or - between them; begin and end with a letter or a digit.", field);
  }
  if (isReserved(canonical)) throw invalidRequest("This name is reserved. Choose another.", field);
  return { spelled, canonical };
}

function isReserved(canonical: string): boolean {
  return (
    reservedHandles.has(canonical) ||
    canonical === env().VENDOR ||
    canonical === env().BRAND_NAME.toLowerCase() ||
    isId(canonical) ||
    MISLEADING_ENDING.test(canonical)
  );
}

/** Names are in lower case (S139). */
const routes = `
  _next accept account accounts activate activity admin administrator api apps assets auth authorize avatars
  badges billing blog bucket buckets callback changelog chat cimd collections community confirm connect consent contact
  copilot courses dashboard datasets demo device devices discover discussions docs documentation download downloads
  email emails endpoints enterprise error errors events examples explore favicon feed feeds files forgot-password
  gists git graphql groups guide guides hardware healthz help home hooks hub icon icons images inbox index inference interaction interactions
  invitations invite invites issues jobs join kernels landing learn legal login logout logs mail manifest marketplace mcp
  me members messages metrics models new news notifications oauth oauth2 oidc openapi org organization organizations
  orgs owner packages pages papers password plans policies posts pricing privacy profile profiles projects public pulls
  readyz receiver register relay releases repo repos repositories reset-password resolve resources robots roles rss run runs
  saml scim scopes search secret secrets security session sessions settings setup share shots sign-in sign-out sign-up signin
  signout signup site sitemap spaces sso stars static stats status storage store subscriptions support sw system tags team
  teams templates terms token tokens tos tree trending tunnel upload uploads user userinfo users v1 verify-email version
  video watch webhook webhooks websocket well-known whoami whoami-v2 wiki worker workers xet
`;
const impersonation = `
  abuse anonymous bot ceo everyone ghost guest hostmaster keyhook moderator nobody noreply no-reply official operator operators
  postmaster root staff superuser sysadmin sudo trust verified webmaster daemon
`;
const troublesome = `
  __proto__ con constructor false hasownproperty localhost nan none null nul prototype tostring true undefined valueof void
`;

const reservedHandles: ReadonlySet<string> = new Set(`${routes} ${impersonation} ${troublesome}`.trim().split(/\s+/));

/** Call this in the transaction that creates the owner. */
export async function claimHandle(
  tx: Db,
  { canonical, spelled }: HandleName,
  owner: { userId: string } | { orgId: string },
  field: string,
): Promise<void> {
  const { count } = await tx.handle.createMany({ data: [{ handle: canonical, ...owner }], skipDuplicates: true });
  if (count === 0) throw conflict(`The name ${spelled} is taken. Choose another.`, field);
}
