import { createHash, createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

export function isSigned(req: IncomingMessage, secret: string, now = Date.now()): boolean {
  const url = new URL(req.url ?? "", "http://bucket.test");
  const inHeader = Object.fromEntries(
    [...(req.headers.authorization ?? "").matchAll(/(\w+)=([^,\s]+)/g)].map(([, name, value]) => [name, value]),
  );
  const isInAddress = url.searchParams.has("X-Amz-Signature");
  const given = (name: string): string => (isInAddress ? url.searchParams.get(`X-Amz-${name}`) : inHeader[name]) ?? "";
  const date = (isInAddress ? url.searchParams.get("X-Amz-Date") : String(req.headers["x-amz-date"])) ?? "";
  if (isInAddress && isOver(date, Number(given("Expires")), now)) return false;
  const [, day = "", region = "", service = ""] = given("Credential").split("/");
  const query = [...url.searchParams]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort();
  const headers = given("SignedHeaders")
    .split(";")
    .map((name) => `${name}:${String(req.headers[name] ?? "").trim()}\n`);
  const payload = isInAddress ? "UNSIGNED-PAYLOAD" : String(req.headers["x-amz-content-sha256"]);
  const canonical = [req.method, url.pathname, query.join("&"), headers.join(""), given("SignedHeaders"), payload].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), service), "aws4_request");
  return hmac(key, `AWS4-HMAC-SHA256\n${date}\n${scope}\n${sha256(canonical)}`).toString("hex") === given("Signature");
}

function isOver(date: string, seconds: number, now: number): boolean {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) + seconds * 1000 < now;
}
