import type { S3Client } from "@aws-sdk/client-s3";
import { env } from "../../../env.ts";

export async function s3() {
  const [sdk, { getSignedUrl }] = await Promise.all([import("@aws-sdk/client-s3"), import("@aws-sdk/s3-request-presigner")]);
  const { LFS_S3_BUCKET: bucket = "" } = env();
  return { sdk, bucket, client: clientFor(sdk), getSignedUrl };
}

let kept: { settings: string; client: S3Client } | undefined;

function clientFor(sdk: typeof import("@aws-sdk/client-s3")): S3Client {
  const { LFS_S3_ENDPOINT, LFS_S3_REGION, LFS_S3_ACCESS_KEY_ID, LFS_S3_SECRET_ACCESS_KEY, LFS_S3_PATH_STYLE } = env();
  const config = {
    ...(LFS_S3_ENDPOINT && { endpoint: LFS_S3_ENDPOINT }),
    region: LFS_S3_REGION,
    forcePathStyle: LFS_S3_PATH_STYLE ? LFS_S3_PATH_STYLE === "1" : LFS_S3_ENDPOINT !== undefined,
    credentials: { accessKeyId: LFS_S3_ACCESS_KEY_ID ?? "", secretAccessKey: LFS_S3_SECRET_ACCESS_KEY ?? "" },
    // Some S3-compatible services lack the SDK's own checksums.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  } as const;
  const settings = JSON.stringify(config);
  if (kept?.settings !== settings) {
    kept?.client.destroy();
    kept = { settings, client: new sdk.S3Client(config) };
  }
  return kept.client;
}

export function s3Status(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
