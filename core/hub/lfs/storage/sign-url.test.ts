import { afterEach, expect, test, vi } from "vitest";
import { provideSettings } from "../../../env.ts";
import { s3 } from "./s3-client.ts";
import { signUrl } from "./sign-url.ts";

const settings = {
  LFS_STORAGE: "s3",
  LFS_S3_BUCKET: "large-files",
  LFS_S3_ACCESS_KEY_ID: "key",
  LFS_S3_SECRET_ACCESS_KEY: "secret",
};

afterEach(() => {
  vi.useRealTimers();
  provideSettings({ LFS_STORAGE: "local" });
});

const partsOf = (url: string) => {
  const { origin, pathname, searchParams } = new URL(url);
  return { origin, pathname, query: [...searchParams].sort() };
};

test.each([
  ["in a region of AWS", { LFS_S3_REGION: "eu-central-1" }],
  ["at another service", { LFS_S3_ENDPOINT: "https://s3.example.com:8443/store", LFS_S3_REGION: "us-east-1" }],
])("URLs for a bucket %s are those of the SDK", async (_, place) => {
  provideSettings({ ...settings, ...place });
  vi.useFakeTimers({ toFake: ["Date"] });
  const { sdk, client, bucket, getSignedUrl } = await s3();
  const [Key, seconds] = ["files/a b/tide'(1)*!~ü+&=.bin", 60];
  const disposition = "attachment; filename*=UTF-8''tide%20%C3%BC'(1)*.bin";
  const download = new sdk.GetObjectCommand({
    Bucket: bucket,
    Key,
    ResponseContentDisposition: disposition,
    Range: "bytes=0-9",
  });
  const upload = new sdk.UploadPartCommand({ Bucket: bucket, Key, UploadId: "up/load+1", PartNumber: 7, ContentLength: 10 });
  const ofSdk = await Promise.all([
    getSignedUrl(client, download, { expiresIn: seconds, unhoistableHeaders: new Set(["range"]) }),
    getSignedUrl(client, upload, { expiresIn: seconds }),
  ]);
  const own = await Promise.all([
    signUrl({
      method: "GET",
      key: Key,
      query: { "response-content-disposition": disposition, "x-id": "GetObject" },
      headers: { range: "bytes=0-9" },
      seconds,
    }),
    signUrl({
      method: "PUT",
      key: Key,
      query: { partNumber: "7", uploadId: "up/load+1", "x-id": "UploadPart" },
      headers: { "content-length": "10" },
      seconds,
    }),
  ]);
  expect(own.map(partsOf)).toEqual(ofSdk.map(partsOf));
});
