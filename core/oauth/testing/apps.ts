import type { OrganizationRole } from "@keyhook/sdk";
import { type Person, personActor } from "../../access/actor.ts";
import { noOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import type { AuditEvent } from "../../generated/prisma/client.ts";
import { newId } from "../../ids.ts";
import { createApp, type NewApp } from "../apps/create-app.ts";

export async function someone({ username = `u-${newId()}`, isOperator = false } = {}): Promise<Person> {
  const id = newId();
  const email = `${username}@example.test`;
  await db().user.create({ data: { id, username, fullName: username, email, emailCanonical: email, isOperator } });
  return signedIn(id, { isOperator });
}

function signedIn(userId: string, { authenticatedAt = new Date(), isOperator = false } = {}): Person {
  return personActor({ id: newId(), userId, authenticatedAt, user: { isOperator } });
}

export function longSignedIn(person: Person): Person {
  return { ...person, authenticatedAt: new Date(Date.now() - 6 * 3600 * 1000) };
}

export async function organizationWith(members: Record<string, OrganizationRole> = {}): Promise<string> {
  const id = newId();
  await db().organization.create({ data: { id, name: `org-${id}`, fullName: "An organization" } });
  for (const [userId, role] of Object.entries(members)) await db().membership.create({ data: { orgId: id, userId, role } });
  return id;
}

export function settings(extra: Partial<NewApp> & Pick<NewApp, "owner">): NewApp {
  return { name: "Paper Lantern", redirectUris: ["https://app.example.com/cb"], scopes: ["openid", "profile"], ...extra };
}

export async function someApp(actor: Person, extra: Partial<NewApp> = {}) {
  return createApp(actor, settings({ owner: { userId: actor.userId }, ...extra }), noOrigin);
}

export async function auditOf(clientId: string): Promise<AuditEvent[]> {
  return db().auditEvent.findMany({ where: { clientId }, orderBy: [{ createdAt: "asc" }, { id: "asc" }] });
}

export async function giveConsent(clientId: string, actor: Person): Promise<string> {
  const consentId = newId();
  await db().oAuthConsent.create({
    data: { id: consentId, userId: actor.userId, clientId, scopes: ["openid"], clientFingerprint: "as it was" },
  });
  await db().oAuthGrant.create({ data: { id: newId(), consentId, userId: actor.userId, clientId, payload: {} } });
  return consentId;
}
