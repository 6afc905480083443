import { db } from "#core/db.ts";
import { isDocumentAddress } from "./documents/document-address.ts";
import type { DocumentMetadata } from "./documents/read-document.ts";
import { wantsRefreshTokens } from "./documents/wants-refresh-tokens.ts";

/** What pages show of a client of any kind. */
export type ClientRecord = {
  clientId: string;
  name: string;
  logoId: string | null;
  /** The client's own statement; nobody has checked it. */
  homepageUrl: string | null;
  ownerUserId: string | null;
  ownerOrgId: string | null;
  verifiedAt: Date | null;
  /** Comes with the service. */
  isFirstParty: boolean;
  /** The app created itself (RFC 7591): nobody here is responsible for it. */
  isSelfRegistered: boolean;
  /** The host that serves the client's metadata document and is responsible for it; null for an app created here. */
  documentHost: string | null;
  accessTokenSeconds: number | null;
  isRefreshAllowed: boolean;
};

/** The records of these clients, by client ID; deleted ones are missing. */
export async function findClientRecords(clientIds: readonly string[]): Promise<Map<string, ClientRecord>> {
  const documentIds = clientIds.filter(isDocumentAddress);
  const [apps, documents] = await Promise.all([
    db().oAuthApp.findMany({ where: { clientId: { in: clientIds.filter((id) => !isDocumentAddress(id)) } } }),
    documentIds.length > 0 ? db().oAuthClientDocument.findMany({ where: { clientId: { in: documentIds } } }) : [],
  ]);
  const records: ClientRecord[] = [
    ...apps.map((app) => ({ ...app, isSelfRegistered: app.registrationTokenHash !== null, documentHost: null })),
    ...documents.map(({ clientId, host, logoId, metadata: kept }) => {
      const metadata = kept as unknown as DocumentMetadata;
      return {
        clientId,
        name: metadata.client_name,
        logoId,
        homepageUrl: metadata.client_uri ?? null,
        ownerUserId: null,
        ownerOrgId: null,
        verifiedAt: null,
        isFirstParty: false,
        isSelfRegistered: false,
        documentHost: host,
        accessTokenSeconds: null,
        isRefreshAllowed: wantsRefreshTokens(metadata),
      };
    }),
  ];
  return new Map(records.map((record) => [record.clientId, record]));
}

export async function findClientRecord(clientId: string): Promise<ClientRecord | undefined> {
  return (await findClientRecords([clientId])).get(clientId);
}
