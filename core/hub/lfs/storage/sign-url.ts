import { createHash, createHmac } from "node:crypto";
import { env } from "../../../env.ts";
import { s3 } from "./s3-client.ts";

type Signed = {
  method: "GET" | "PUT";
  key: string;
  query?: Record<string, string | undefined>;
  /** In lower case. The client must send exactly these. */
  headers?: Record<string, string | undefined>;
  seconds: number;
};

/** How long signing one URL blocks the event loop (S137). */
export const SIGN_MS = 0.03;

/** Signature Version 4 in the query. One request may need a thousand URLs, and the SDK takes twenty times as long (S137). */
export async function signUrl({ method, key, query = {}, headers = {}, seconds }: Signed): Promise<string> {
  const { LFS_S3_REGION, LFS_S3_ACCESS_KEY_ID = "", LFS_S3_SECRET_ACCESS_KEY = "" } = env();
  const { origin, host, prefix } = await placeOfBucket();
  const at = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const day = at.slice(0, 8);
  const scope = [day, LFS_S3_REGION, "s3", "aws4_request"];
  const signed = sorted({ host, ...headers });
  const names = signed.map(([name]) => name).join(";");
  const parameters = sorted({
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD",
    "X-Amz-Credential": [LFS_S3_ACCESS_KEY_ID, ...scope].join("/"),
    "X-Amz-Date": at,
    "X-Amz-Expires": String(seconds),
    "X-Amz-SignedHeaders": names,
    ...query,
  });
  const path = prefix + key.split("/").map(encoded).join("/");
  const search = parameters.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&");
  const lines = signed.map(([name, value]) => `${name}:${value}\n`).join("");
  const request = [method, path, search, lines, names, "UNSIGNED-PAYLOAD"].join("\n");
  const text = ["AWS4-HMAC-SHA256", at, scope.join("/"), createHash("sha256").update(request).digest("hex")].join("\n");
  const signature = hmac(scope.reduce<string | Buffer>(hmac, `AWS4${LFS_S3_SECRET_ACCESS_KEY}`), text).toString("hex");
  return `${origin}${path}?${search}&X-Amz-Signature=${signature}`;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

const sorted = (values: Record<string, string | undefined>): [string, string][] =>
  Object.entries(values)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));

type Place = { origin: string; host: string; prefix: string };
let known: { client: unknown; bucket: string; place: Promise<Place> } | undefined;

/** Only the SDK knows the URLs of all regions and services. */
async function placeOfBucket(): Promise<Place> {
  const { sdk, client, bucket, getSignedUrl } = await s3();
  if (known?.client !== client || known.bucket !== bucket) {
    const sample = getSignedUrl(client, new sdk.GetObjectCommand({ Bucket: bucket, Key: "key" }));
    const place = sample.then((address) => {
      const { origin, host, pathname } = new URL(address);
      return { origin, host, prefix: pathname.slice(0, -"key".length) };
    });
    known = { client, bucket, place };
  }
  return known.place;
}
