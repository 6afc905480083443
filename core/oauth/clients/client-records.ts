import { db } from "#core/db.ts";
import { isDocumentAddress } from "../documents/document-address.ts";
import { type DocumentMetadata, wantsRefreshTokens } from "../documents/read-document.ts";
import type { RegisteredMetadata } from "../registration/registration-metadata.ts";

export type ClientRecord = {
  clientId: string;
  name: string;
  logoId: string | null;
  /** The client's own statement. Nobody has checked it. */
  homepageUrl: string | null;
  termsUrl: string | null;
  policyUrl: string | null;
  ownerUserId: string | null;
  ownerOrgId: string | null;
  verifiedAt: Date | null;
  isFirstParty: boolean;
  isSelfRegistered: boolean;
  documentHost: string | null;
  accessTokenSeconds: number | null;
  isRefreshAllowed: boolean;
};

export async function findClientRecords(clientIds: readonly string[]): Promise<Map<string, ClientRecord>> {
  const documentIds = clientIds.filter(isDocumentAddress);
  const [apps, documents] = await Promise.all([
    db().oAuthApp.findMany({ where: { clientId: { in: clientIds.filter((id) => !isDocumentAddress(id)) } } }),
    documentIds.length > 0 ? db().oAuthClientDocument.findMany({ where: { clientId: { in: documentIds } } }) : [],
  ]);
  const records: ClientRecord[] = [
    ...apps.map((app) => ({
      ...app,
      ...termsOf((app.registeredMetadata ?? {}) as RegisteredMetadata),
      isSelfRegistered: app.registrationTokenHash !== null,
      documentHost: null,
    })),
    ...documents.map(({ clientId, host, logoId, metadata: kept }) => {
      const metadata = kept as unknown as DocumentMetadata;
      return {
        clientId,
        name: metadata.client_name,
        logoId,
        homepageUrl: metadata.client_uri ?? null,
        ...termsOf(metadata),
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

export const termsOf = ({ tos_uri, policy_uri }: Pick<RegisteredMetadata, "tos_uri" | "policy_uri">) => ({
  termsUrl: tos_uri ?? null,
  policyUrl: policy_uri ?? null,
});

export async function findClientRecord(clientId: string): Promise<ClientRecord | undefined> {
  return (await findClientRecords([clientId])).get(clientId);
}
