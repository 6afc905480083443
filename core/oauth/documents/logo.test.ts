import sharp from "sharp";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { db } from "#core/db.ts";
import { env } from "#core/env.ts";
import { findImage } from "#core/images/stored-image.ts";
import { startHttpsSite } from "#core/testing/https-site.ts";
import { findClientMetadata } from "../clients/find-client.ts";
import { ask, openQuestion } from "../testing/authorization.ts";
import { makeStale } from "../testing/document-site.ts";
import { signInAtSite, type Visit, visitSite } from "../testing/site-visit.ts";
import { startWorld } from "../testing/world.ts";
import { LOGO_MAX_BYTES } from "./fetch-document.ts";
import { forgetFetches } from "./within-fetch-limits.ts";

const visits: Visit[] = [];
const world = await startWorld();
const pictures = await startHttpsSite();
beforeEach(forgetFetches);
afterAll(async () => {
  await world.stop();
  await pictures.stop();
  for (const { site } of visits) await site.stop();
});

const redirect_uri = "https://kite.example/cb";
const picture = (background: string) =>
  sharp({ create: { width: 64, height: 64, channels: 3, background } })
    .png()
    .toBuffer();

async function visit(changes: Record<string, unknown> = {}): Promise<Visit> {
  const made = await visitSite(world, { redirect_uris: [redirect_uri], logo_uri: `${pictures.origin}/logo.png`, ...changes });
  visits.push(made);
  return made;
}

function show(bytes: Uint8Array | string, headers: Record<string, string> = { "content-type": "image/png" }, status = 200): void {
  pictures.answer((_req, res) => res.writeHead(status, headers).end(bytes));
}

const stored = ({ site }: Visit) => db().oAuthClientDocument.findUniqueOrThrow({ where: { clientId: site.clientId } });

async function laterOn({ site }: Visit): Promise<void> {
  await makeStale(site.clientId);
  await db().oAuthClientDocument.update({ where: { clientId: site.clientId }, data: { logoFetchedAt: new Date(0) } });
}

describe("S82 the logo of a document", () => {
  test("is re-encoded and served from the service's origin", async () => {
    show(await picture("#b5892e"));
    const at = await visit();
    const { request } = await openQuestion(at, { redirect_uri });
    const image = await findImage(request.app.logoId ?? "");
    expect(await sharp(image?.bytes).metadata()).toMatchObject({ format: "webp", width: 256, height: 256 });
    expect((await findClientMetadata(at.site.clientId))?.logo_uri).toBe(`${env().ORIGIN}/images/${request.app.logoId}`);
  });

  test.each<[string, () => void]>([
    ["that is not there", () => show("", {}, 404)],
    ["that is moved", () => show("", { location: `${pictures.origin}/other.png` }, 302)],
    [
      "that is SVG",
      () => show("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>", { "content-type": "image/svg+xml" }),
    ],
    ["that is a page", () => show("<!doctype html>", { "content-type": "text/html" })],
    ["that is too large", () => show(new Uint8Array(LOGO_MAX_BYTES + 1))],
    ["that never ends", () => pictures.answer((_req, res) => res.writeHead(200).write("x"))],
  ])("%s neither refuses the app nor delays the user for long", async (_, serve) => {
    serve();
    const at = await visit();
    expect((await openQuestion(at, { redirect_uri })).request.app).toMatchObject({ name: "Kite Runner", logoId: null });
  });

  test("with too many pixels is not decoded (decompression bomb)", async () => {
    const wide = { create: { width: 2_400, height: 2_400, channels: 3 as const, background: "#000" } };
    const bomb = await sharp(wide).png({ compressionLevel: 9 }).toBuffer();
    expect(bomb.byteLength).toBeLessThan(LOGO_MAX_BYTES);
    show(bomb);
    const at = await visit();
    expect((await openQuestion(at, { redirect_uri })).request.app.logoId).toBeNull();
  });

  test("on the service's own network is not used (S77)", async () => {
    for (const logo_uri of ["https://169.254.169.254/latest/meta-data", "https://10.0.0.1/logo.png"]) {
      const at = await visit({ logo_uri });
      expect((await openQuestion(at, { redirect_uri })).request.app.logoId).toBeNull();
    }
  });

  test("that can no longer be fetched stays, and users are not asked again", async () => {
    show(await picture("#14736f"));
    const at = await visit();
    await signInAtSite(at, { redirect_uri });
    const { logoId } = await stored(at);
    await laterOn(at);
    show("", {}, 500);
    expect((await ask(at, { redirect_uri, prompt: "none" })).answer).toHaveProperty("code");
    expect((await stored(at)).logoId).toBe(logoId);
    await laterOn(at);
    show(await picture("#14736f"));
    expect((await ask(at, { redirect_uri, prompt: "none" })).answer).toHaveProperty("code");
    expect((await stored(at)).logoId).toBe(logoId);
  });

  test("that has changed leads to a new question (S36)", async () => {
    show(await picture("#14736f"));
    const at = await visit();
    await signInAtSite(at, { redirect_uri });
    const { logoId } = await stored(at);
    await laterOn(at);
    show(await picture("#a63c3c"));
    expect((await ask(at, { redirect_uri, prompt: "none" })).answer).toMatchObject({ error: "consent_required" });
    expect((await stored(at)).logoId).not.toBe(logoId);
    expect(await findImage(logoId ?? "")).toBeUndefined();
  });

  test("that the document no longer names is deleted", async () => {
    show(await picture("#14736f"));
    const [one, two] = [await visit(), await visit()];
    for (const at of [one, two]) await ask(at, { redirect_uri });
    const before = [(await stored(one)).logoId, (await stored(two)).logoId];
    show("", {}, 404);
    one.site.publish({ logo_uri: undefined });
    two.site.publish({ logo_uri: `${pictures.origin}/other.png` });
    for (const at of [one, two]) {
      await makeStale(at.site.clientId);
      await ask(at, { redirect_uri });
      expect((await stored(at)).logoId).toBeNull();
    }
    for (const id of before) expect(await findImage(id ?? "")).toBeUndefined();
  });

  test("is fetched once a day", async () => {
    show(await picture("#14736f"));
    const at = await visit();
    await ask(at, { redirect_uri });
    const before = pictures.asked.length;
    await makeStale(at.site.clientId);
    await ask(at, { redirect_uri });
    expect(at.site.fetches()).toBe(2);
    expect(pictures.asked.length).toBe(before);
  });

  test("is deleted with its document", async () => {
    show(await picture("#5a6b14"));
    const at = await visit();
    await ask(at, { redirect_uri });
    const { logoId } = await stored(at);
    await db().oAuthClientDocument.delete({ where: { clientId: at.site.clientId } });
    expect(await findImage(logoId ?? "")).toBeUndefined();
  });
});
