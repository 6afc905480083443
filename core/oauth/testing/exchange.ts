import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import type { AuditEvent } from "#core/generated/prisma/client.ts";
import { newId } from "#core/ids.ts";
import { setAppPrivilege } from "../apps/app-privilege.ts";
import type { NewApp } from "../apps/create-app.ts";
import { TOKEN_EXCHANGE_GRANT } from "../grant-types.ts";
import type { AnyWorld, TestApp } from "./world.ts";

export const USER_EMAIL = "urn:keyhook:token-type:user-email";

export async function prepareExchange(world: AnyWorld, input: Partial<NewApp> = {}) {
  const tag = newId().slice(-8);
  const [admin, writer, reader, stranger] = await Promise.all(
    ["admin", "writer", "reader", "stranger"].map((name) => world.user(`${name}-${tag}`)),
  );
  if (!admin || !writer || !reader || !stranger) throw new Error("four people");
  const orgId = await world.organization(`org-${tag}`, { [admin.id]: "admin", [writer.id]: "write", [reader.id]: "read" });
  const app = await world.app(admin, { owner: { orgId }, isConfidential: true, isBound: true, ...input });
  await setAppPrivilege(operatorCommand, app.id, "token-exchange", true, noOrigin);
  return { world, orgId, orgName: `org-${tag}`, admin, writer, reader, stranger, app };
}

export type Prepared = Awaited<ReturnType<typeof prepareExchange>>;

type Exchanged = {
  access_token: string;
  token_type: string;
  expires_in: number;
  scope: string;
  id_token?: string;
  issued_token_type: string;
  error?: string;
  error_description?: string;
};

export function exchangeForm(email: string, extra: Record<string, string | undefined> = {}): Record<string, string> {
  const form = { grant_type: TOKEN_EXCHANGE_GRANT, subject_token: email, subject_token_type: USER_EMAIL, ...extra };
  return Object.fromEntries(Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

export async function exchange(
  { world, app }: { world: AnyWorld; app: TestApp },
  email: string,
  extra: Record<string, string | undefined> = {},
  headers: Record<string, string> = {},
) {
  const authorization = world.basic(app.clientId, app.secret ?? "");
  const response = await world.post("/oauth/token", exchangeForm(email, extra), { authorization, ...headers });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Exchanged };
}

export const outcomeOf = ({ status, body }: { status: number; body: Exchanged }) =>
  body.error ? `${status} ${body.error}` : `${status}`;

export function auditOfOrganization(orgId: string): Promise<AuditEvent[]> {
  return db().auditEvent.findMany({
    where: { orgId, type: { startsWith: "oauth_token.exchange" } },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
  });
}
