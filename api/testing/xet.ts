import { expect } from "vitest";
import type { Repo } from "#core/hub/repos/repo.ts";
import { CHUNK_HEADER_BYTES, readChunkHeader, unpackChunk } from "#core/hub/xet/chunk.ts";
import { someShard, type TestFile, type TestXorb } from "#core/hub/xet/testing/xet-files.ts";

export type XetAccess = { casUrl: string; accessToken: string; exp: number };

const bearer = (token: string | undefined): Record<string, string> => (token ? { authorization: `Bearer ${token}` } : {});

export function askXetToken(
  origin: string,
  repo: Repo,
  right: "read" | "write",
  { token, revision = "main", query = "" }: { token?: string | undefined; revision?: string; query?: string } = {},
): Promise<Response> {
  const path = `/api/${repo.type}s/${repo.fullName}/xet-${right}-token/${encodeURIComponent(revision)}${query}`;
  return fetch(origin + path, { headers: bearer(token) });
}

export async function xetAccess(...asked: Parameters<typeof askXetToken>): Promise<XetAccess> {
  const response = await askXetToken(...asked);
  expect(response.status).toBe(200);
  return (await response.json()) as XetAccess;
}

export type XetAnswer = { status: number; body: Record<string, unknown> & { error?: string } };

export async function postXet({ casUrl, accessToken }: XetAccess, path: string, body: Uint8Array): Promise<XetAnswer> {
  const response = await fetch(casUrl + path, { method: "POST", headers: bearer(accessToken), body: Uint8Array.from(body) });
  return { status: response.status, body: (await response.json()) as XetAnswer["body"] };
}

export const putXorb = (access: XetAccess, { hash, bytes }: Pick<TestXorb, "hash" | "bytes">) =>
  postXet(access, `/v1/xorbs/default/${hash}`, bytes);

export const putShard = async (access: XetAccess, ...described: Parameters<typeof someShard>) =>
  postXet(access, "/v1/shards", await someShard(...described));

export async function uploadByXet(access: XetAccess, file: TestFile): Promise<void> {
  const xorbs = [...new Set(file.terms.map(({ xorb }) => xorb))];
  for (const xorb of xorbs) expect(await putXorb(access, xorb)).toMatchObject({ status: 200 });
  expect(await putShard(access, [file], xorbs)).toEqual({ status: 200, body: { result: 1 } });
}

export const getXet = ({ casUrl, accessToken }: XetAccess, path: string, headers: Record<string, string> = {}) =>
  fetch(casUrl + path, { headers: { ...bearer(accessToken), ...headers } });

export type Fetch = { url: string; url_range: { start: number; end: number }; range: { start: number; end: number } };
export type Reconstruction = {
  offset_into_first_range: number;
  terms: { hash: string; range: { start: number; end: number }; unpacked_length: number }[];
  fetch_info: Record<string, Fetch[]>;
};

export async function downloadByXet(access: XetAccess, hash: string, range?: { start: number; end: number }): Promise<Buffer> {
  const headers: Record<string, string> = range ? { range: `bytes=${range.start}-${range.end}` } : {};
  const found = (await (await getXet(access, `/v1/reconstructions/${hash}`, headers)).json()) as Reconstruction;
  const parts: Buffer[] = [];
  for (const term of found.terms) {
    const fetched = found.fetch_info[term.hash]?.find(
      (one) => one.range.start <= term.range.start && one.range.end >= term.range.end,
    );
    const { url = "", url_range = { start: 0, end: 0 } } = fetched ?? {};
    const response = await fetch(url, { headers: { range: `bytes=${url_range.start}-${url_range.end}` } });
    expect(response.status).toBe(206);
    const packed = Buffer.from(await response.arrayBuffer());
    const data: Buffer[] = [];
    for (let at = 0; at < packed.length; ) {
      const chunk = readChunkHeader(packed, at);
      at += CHUNK_HEADER_BYTES + chunk.packedBytes;
      data.push(unpackChunk(chunk, packed.subarray(at - chunk.packedBytes, at)));
    }
    expect(Buffer.concat(data)).toHaveLength(term.unpacked_length);
    parts.push(...data);
  }
  const { offset_into_first_range: offset } = found;
  return Buffer.concat(parts).subarray(offset, range && offset + range.end + 1 - range.start);
}
