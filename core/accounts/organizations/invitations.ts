import type { OrganizationRole } from "@keyhook/sdk";
import { type Actor, actorId, type Person } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken, newToken } from "../../crypto/token.ts";
import { type Db, db } from "../../db.ts";
import { env } from "../../env.ts";
import { conflict, notFound, ServiceError } from "../../errors.ts";
import { isId, newId } from "../../ids.ts";
import { isMailSent, queueMail } from "../../mail/queue-mail.ts";
import { parseEmailAddress } from "../email-address.ts";
import { link } from "../emails/compose-email.ts";
import { invitationEmail } from "../emails/organization-emails.ts";
import { type Page, type PageRequest, pageBounds } from "../page.ts";
import { accountIsDisabled } from "../sessions/complete-sign-in.ts";
import { consumeThrottle, throttleKey } from "../throttle.ts";
import { changeOrganization } from "./change-organization.ts";
import { insertMembership, parseRole } from "./membership.ts";

const INVITATION_SECONDS = 7 * 24 * 60 * 60;

/** The limit for a sender over all organizations, because each invitation sends an email to an address that the sender chose. */
const INVITE_LIMIT = { limit: 100, windowSeconds: 24 * 60 * 60 };
/** How often one user may invite one address, over all organizations, because a user can create many organizations. */
const INVITE_LIMIT_OF_ADDRESS = { limit: 5, windowSeconds: 24 * 60 * 60 };

async function countInvitation(actor: Actor, orgId: string, emailCanonical: string): Promise<void> {
  const sender = actorId(actor) ?? orgId;
  await consumeThrottle(throttleKey("invite-address", `${sender} ${emailCanonical}`), INVITE_LIMIT_OF_ADDRESS);
  await consumeThrottle(throttleKey("invite", sender), INVITE_LIMIT);
}

/** For installations without mail. The administrator passes the link on. */
type UnsentLink = { link?: string };

export async function createInvitation(
  actor: Actor,
  orgId: string,
  input: { email: string; role: string },
  from: RequestOrigin,
): Promise<{ id: string } & UnsentLink> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const email = parseEmailAddress(input.email);
  const role: OrganizationRole = parseRole(input.role);
  await countInvitation(actor, orgId, email.canonical);
  const id = newId();
  const token = newToken();
  await changeOrganization(actor, { orgId, action: "organization.manage", from }, async (tx, record) => {
    await refuseMember(tx, orgId, email.canonical);
    await tx.invitation.updateMany({
      where: { orgId, emailCanonical: email.canonical, acceptedAt: null, revokedAt: null },
      data: { revokedAt: new Date() },
    });
    await tx.invitation.create({
      data: {
        id,
        orgId,
        email: email.address,
        emailCanonical: email.canonical,
        role,
        invitedById: actorId(actor),
        tokenHash: hashToken(token),
        expiresAt: new Date(Date.now() + INVITATION_SECONDS * 1000),
      },
    });
    await mailInvitation(tx, id, token);
    await record({ type: "organization.invite", data: { invitationId: id, email: email.address, role } });
  });
  return { id, ...unsentLink(token) };
}

const unsentLink = (token: string): UnsentLink => (isMailSent() ? {} : { link: link(`/invitations/${token}`) });

async function refuseMember(tx: Db, orgId: string, emailCanonical: string): Promise<void> {
  const member = await tx.membership.findFirst({ where: { orgId, user: { emailCanonical } }, select: { userId: true } });
  if (member) throw conflict("A user with this e-mail address is already a member.", "email");
}

export async function resendInvitation(
  actor: Actor,
  orgId: string,
  invitationId: string,
  from: RequestOrigin,
): Promise<{ email: string } & UnsentLink> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  if (!isId(invitationId)) throw notFound("Invitation");
  const open = await db().invitation.findFirst({
    where: { id: invitationId, orgId, acceptedAt: null, revokedAt: null },
    select: { emailCanonical: true },
  });
  if (!open) throw notFound("Invitation");
  await countInvitation(actor, orgId, open.emailCanonical);
  const token = newToken();
  const email = await changeOrganization(actor, { orgId, action: "organization.manage", from }, async (tx, record) => {
    const [resent] = await tx.invitation.updateManyAndReturn({
      where: { id: invitationId, orgId, acceptedAt: null, revokedAt: null },
      data: { tokenHash: hashToken(token), expiresAt: new Date(Date.now() + INVITATION_SECONDS * 1000) },
      select: { email: true },
    });
    if (!resent) throw notFound("Invitation");
    await mailInvitation(tx, invitationId, token);
    await record({ type: "organization.resend_invitation", data: { invitationId, email: resent.email } });
    return resent.email;
  });
  return { email, ...unsentLink(token) };
}

async function mailInvitation(tx: Db, invitationId: string, token: string): Promise<void> {
  const { email, role, invitedById, org } = await tx.invitation.findUniqueOrThrow({
    where: { id: invitationId },
    select: { email: true, role: true, invitedById: true, org: { select: { name: true } } },
  });
  const inviter = invitedById ? await tx.user.findUnique({ where: { id: invitedById }, select: { username: true } }) : null;
  const invitedBy = inviter?.username ?? `The operator of ${env().BRAND_NAME}`;
  await queueMail(tx, {
    to: email,
    ...invitationEmail({ organization: org.name, invitedBy, role: role as OrganizationRole, token }),
  });
}

/** The link is the proof, so the account may have another address than the invited one. */
export async function acceptInvitation(
  actor: Person,
  token: string,
  from: RequestOrigin,
): Promise<{ orgId: string; name: string }> {
  return db().$transaction(async (tx) => {
    const now = new Date();
    // The lock also keeps out a user who is being disabled at this moment.
    const enabled = await tx.$queryRaw<unknown[]>`
      SELECT 1 FROM "user" WHERE id = ${actor.userId} AND disabled_at IS NULL FOR SHARE`;
    if (enabled.length === 0) throw accountIsDisabled();
    // The organization is locked before the invitation, as when an organization is deleted, to avoid a deadlock.
    await tx.$queryRaw`SELECT 1 FROM organization
      WHERE id = (SELECT org_id FROM invitation WHERE token_hash = ${hashToken(token)}) FOR KEY SHARE`;
    const [accepted] = await tx.invitation.updateManyAndReturn({
      where: { tokenHash: hashToken(token), acceptedAt: null, revokedAt: null, expiresAt: { gt: now } },
      data: { acceptedAt: now },
      select: { id: true, orgId: true, email: true, role: true },
    });
    if (!accepted) throw new ServiceError("gone", "This invitation was used, was revoked or has expired. Request a new one.");
    const { id, orgId, email, role } = accepted;
    await insertMembership(tx, orgId, actor.userId, parseRole(role));
    await recordAuditEvent(tx, {
      type: "organization.accept_invitation",
      actorId: actor.userId,
      orgId,
      subjectId: actor.userId,
      data: { invitationId: id, email, role },
      from,
    });
    const { name } = await tx.organization.findUniqueOrThrow({ where: { id: orgId }, select: { name: true } });
    return { orgId, name };
  });
}

export type Invitation = {
  state: "open" | "expired" | "accepted" | "revoked";
  orgId: string;
  organization: { name: string; fullName: string; avatarId: string | null };
  email: string;
  role: OrganizationRole;
  invitedBy: string | undefined;
  expiresAt: Date;
};

export async function findInvitation(token: string): Promise<Invitation | undefined> {
  const row = await db().invitation.findUnique({
    where: { tokenHash: hashToken(token) },
    select: {
      orgId: true,
      email: true,
      role: true,
      expiresAt: true,
      acceptedAt: true,
      revokedAt: true,
      invitedById: true,
      org: { select: { name: true, fullName: true, avatarId: true } },
    },
  });
  if (!row) return undefined;
  const { org, invitedById, role, acceptedAt, revokedAt, ...rest } = row;
  const inviter = invitedById ? await db().user.findUnique({ where: { id: invitedById }, select: { username: true } }) : null;
  const state = acceptedAt ? "accepted" : revokedAt ? "revoked" : rest.expiresAt.getTime() <= Date.now() ? "expired" : "open";
  return { ...rest, state, role: role as OrganizationRole, organization: org, invitedBy: inviter?.username };
}

export type OpenInvitation = {
  id: string;
  email: string;
  role: OrganizationRole;
  createdAt: Date;
  expiresAt: Date;
  isExpired: boolean;
};

export async function listInvitations(actor: Actor, orgId: string, request: PageRequest = {}): Promise<Page<OpenInvitation>> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const where = { orgId, acceptedAt: null, revokedAt: null };
  const { page, pageSize, skip, take } = pageBounds(request);
  const [total, rows] = await Promise.all([
    db().invitation.count({ where }),
    db().invitation.findMany({
      where,
      orderBy: [{ createdAt: "desc" }, { id: "desc" }],
      skip,
      take,
      select: { id: true, email: true, role: true, createdAt: true, expiresAt: true },
    }),
  ]);
  const now = Date.now();
  const items = rows.map((row) => ({
    ...row,
    role: row.role as OrganizationRole,
    isExpired: row.expiresAt.getTime() <= now,
  }));
  return { items, page, pageSize, total };
}

export async function revokeInvitation(actor: Actor, orgId: string, invitationId: string, from: RequestOrigin): Promise<void> {
  if (!isId(invitationId)) throw notFound("Invitation");
  await changeOrganization(actor, { orgId, action: "organization.manage", from }, async (tx, record) => {
    const [revoked] = await tx.invitation.updateManyAndReturn({
      where: { id: invitationId, orgId, acceptedAt: null, revokedAt: null },
      data: { revokedAt: new Date() },
      select: { email: true },
    });
    if (!revoked) throw notFound("Invitation");
    await record({ type: "organization.revoke_invitation", data: { invitationId, email: revoked.email } });
  });
}

/** A removed administrator must not return through an invitation. Whoever sent or repeated an invitation may have its link. */
export async function revokeInvitationsBy(tx: Db, userId: string, orgId?: string): Promise<void> {
  const since = new Date(Date.now() - INVITATION_SECONDS * 1000);
  await tx.$executeRaw`
    UPDATE invitation SET revoked_at = now()
    WHERE accepted_at IS NULL AND revoked_at IS NULL AND org_id = coalesce(${orgId ?? null}, org_id)
      AND (invited_by_id = ${userId} OR id IN (
        SELECT data ->> 'invitationId' FROM audit_event
        WHERE actor_id = ${userId} AND type = 'organization.resend_invitation' AND created_at > ${since}))`;
}
