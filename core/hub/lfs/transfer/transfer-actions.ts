import { repoPath } from "@keyhook/sdk";
import { env } from "../../../env.ts";
import { currentParty } from "../../../fair-queue/party.ts";
import type { Repo } from "../../repos/repo.ts";
import { isXetEnabled, signXetToken, xetTokenUrlOf } from "../../xet/xet-token.ts";
import type { LfsObjectId } from "../lfs-object.ts";
import type { StoredLfsObject } from "../objects/find-lfs-object.ts";
import { claimUpload, noteUploadId, uploadHoldId } from "../objects/record-lfs-object.ts";
import type { DirectTransfers } from "../storage/lfs-storage.ts";
import { lfsStorage, storageOf } from "../storage/storages.ts";
import { signTransfer, TRANSFER_SECONDS, type Transfer } from "./transfer-authorization.ts";
import type { Uploader } from "./uploader.ts";

export type Action = { href: string; header?: Record<string, string>; expires_in: number };
export type Actions = { download?: Action; upload?: Action; verify?: Action };

/** `multipart` is the public hub's extension. */
export type TransferKind = "basic" | "multipart";

/** Clients that offer `multipart` get it, because in a basic upload they send no checksum header and do not report the end. */
export function uploadKind(transfers: readonly string[]): TransferKind | "xet" {
  // Xet comes first, because its clients skip chunks that are stored.
  if (transfers.includes("xet") && isXetEnabled()) return "xet";
  return lfsStorage().direct && transfers.includes("multipart") ? "multipart" : "basic";
}

export async function downloadActions(repo: Repo, object: StoredLfsObject): Promise<Actions> {
  const { direct } = storageOf(object.location);
  const href = direct
    ? await direct.downloadUrl(object.location, { seconds: TRANSFER_SECONDS.download })
    : addressOf(repo, { operation: "download", ...object });
  return { download: { href, expires_in: TRANSFER_SECONDS.download } };
}

export async function uploadActions(
  repo: Repo,
  object: LfsObjectId,
  { kind, uploader }: { kind: TransferKind; uploader: Uploader | undefined },
): Promise<Actions> {
  const storage = lfsStorage();
  if (!storage.direct)
    return {
      upload: { href: addressOf(repo, { operation: "upload", ...object, uploader }), expires_in: TRANSFER_SECONDS.upload },
    };
  if (kind === "multipart") return { upload: await partsAction(storage.direct, repo, object, uploader) };
  const holdId = uploadHoldId({ ...object, repoId: repo.id, kind, party: currentParty().key });
  const { location } = await claimUpload(holdId, storage.newLocation(repo.id, object.oid));
  const upload = await storage.direct.uploadUrl(location, object, TRANSFER_SECONDS.upload);
  return {
    upload: { ...upload, expires_in: TRANSFER_SECONDS.upload },
    verify: {
      href: addressOf(repo, { operation: "upload", ...object, location, uploader }, "/verify"),
      expires_in: TRANSFER_SECONDS.upload,
    },
  };
}

async function partsAction(
  direct: DirectTransfers,
  repo: Repo,
  object: LfsObjectId,
  uploader: Uploader | undefined,
): Promise<Action> {
  if (object.size === 0) {
    const href = addressOf(repo, { operation: "upload", ...object, uploader }, "/complete");
    return { href, header: { chunk_size: "1" }, expires_in: TRANSFER_SECONDS.upload };
  }
  const holdId = uploadHoldId({ ...object, repoId: repo.id, kind: "multipart", party: currentParty().key });
  const { location, uploadId: before } = await claimUpload(holdId, lfsStorage().newLocation(repo.id, object.oid));
  const { uploadId, chunkBytes, urls } = await direct.startParts(location, object, TRANSFER_SECONDS.upload, before);
  if (uploadId !== before && !(await noteUploadId(holdId, before, uploadId))) {
    await direct.endParts(location, uploadId);
    return partsAction(direct, repo, object, uploader);
  }
  const parts = urls.map((url, at) => [String(at + 1).padStart(5, "0"), url]);
  return {
    href: addressOf(repo, { operation: "upload", ...object, location, uploadId, uploader }, "/complete"),
    header: { chunk_size: String(chunkBytes), ...Object.fromEntries(parts) },
    expires_in: TRANSFER_SECONDS.upload,
  };
}

export function xetActions(repo: Repo, holder: Uploader | undefined): Actions {
  const revision = repo.defaultBranch;
  const { casUrl, accessToken, exp } = signXetToken(repo, { right: "write", revision, holder });
  const header = { "X-Xet-Cas-Url": casUrl, "X-Xet-Access-Token": accessToken, "X-Xet-Token-Expiration": String(exp) };
  return { upload: { href: xetTokenUrlOf(repo, "write", revision), header, expires_in: TRANSFER_SECONDS.upload } };
}

function addressOf(
  repo: Repo,
  { operation, oid, size, location, uploadId, uploader }: Omit<Transfer, "repoId" | "party">,
  step = "",
): string {
  const authorization = signTransfer({
    operation,
    repoId: repo.id,
    oid,
    size,
    ...(operation === "upload" && location && { location, party: currentParty().key }),
    ...(uploadId && { uploadId }),
    ...(uploader && { uploader }),
  });
  const path = `${repoPath(repo.type, repo.fullName)}.git/info/lfs/objects/${oid}${step}`;
  return `${env().ORIGIN}${path}?transfer=${authorization}`;
}
