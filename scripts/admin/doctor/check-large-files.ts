import { env } from "#core/env.ts";
import { lfsStorage } from "#core/hub/lfs/storage/storages.ts";
import { type Finding, findings, reason } from "./finding.ts";

const report = findings("large files");
const TIMEOUT_MS = 10_000;

/** Where large files lie: something can be written there, read and deleted. */
export async function checkLargeFiles(): Promise<Finding[]> {
  const { LFS_STORAGE, LFS_S3_BUCKET, LFS_S3_ENDPOINT, DATA_DIR } = env();
  const place = LFS_STORAGE === "s3" ? `bucket ${LFS_S3_BUCKET} at ${LFS_S3_ENDPOINT ?? "Amazon S3"}` : `${DATA_DIR}/lfs`;
  try {
    await within(TIMEOUT_MS, lfsStorage().probe());
    return [report.ok(place)];
  } catch (error) {
    const advice =
      LFS_STORAGE === "s3"
        ? "Check the LFS_S3 settings, and that their key may read, write and delete in the bucket."
        : "Make it writable for the user that runs the service.";
    return [report.fail(`${place}: ${reason(error)}`, advice)];
  }
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${milliseconds / 1000} seconds`)), milliseconds);
  await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}
