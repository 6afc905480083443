import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { db } from "../db.ts";
import { newId } from "../ids.ts";
import { avatarColours, avatarSvg, initials } from "./avatar-svg.ts";
import { encodeImage } from "./encode-image.ts";
import { findImage, insertImage } from "./stored-image.ts";

const store = async (bytes: Uint8Array, field?: string) => insertImage(db(), await encodeImage(bytes, field));

const canvas = (width: number, height: number) => sharp({ create: { width, height, channels: 3, background: "#b5892e" } });

const photo = async () => {
  const half = await canvas(50, 100).tint("#f00").png().toBuffer();
  return sharp({ create: { width: 100, height: 100, channels: 3, background: "#00f" } })
    .composite([{ input: half, left: 0, top: 0 }])
    .withExif({ IFD0: { Copyright: "a secret place" }, IFD3: { GPSLatitudeRef: "N" } })
    .withMetadata({ orientation: 3 })
    .jpeg()
    .toBuffer();
};

describe("S82 uploaded pictures", () => {
  test.each(["png", "jpeg", "webp", "gif", "avif"] as const)("in the format %s become 256×256 WebP", async (format) => {
    const id = await store(await canvas(300, 120).toFormat(format).toBuffer());
    const image = await findImage(id);
    expect(image?.contentType).toBe("image/webp");
    expect(await sharp(image?.bytes).metadata()).toMatchObject({ format: "webp", width: 256, height: 256 });
  });

  test("are turned upright, then lose their EXIF", async () => {
    const bytes = await photo();
    expect(bytes.includes("a secret place")).toBe(true);
    const image = await findImage(await store(bytes));
    const stored = Buffer.from(image?.bytes ?? []);
    expect(stored.includes("a secret place")).toBe(false);
    expect(await sharp(stored).metadata()).not.toHaveProperty("exif");
    const { data } = await sharp(stored)
      .removeAlpha()
      .extract({ left: 20, top: 128, width: 1, height: 1 })
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(data[2]).toBeGreaterThan(200);
  });

  test("become their first frame if they are animated", async () => {
    const frames = await Promise.all(
      ["#f00", "#0f0", "#00f"].map((background) =>
        sharp({ create: { width: 20, height: 20, channels: 3, background } })
          .png()
          .toBuffer(),
      ),
    );
    const animation = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer();
    expect((await sharp(animation, { pages: -1 }).metadata()).pages).toBe(3);
    const image = await findImage(await store(animation));
    expect((await sharp(image?.bytes).metadata()).pages).toBeUndefined();
    expect([...(await sharp(image?.bytes).removeAlpha().raw().toBuffer()).subarray(0, 3)]).toEqual([
      expect.toSatisfy((red: number) => red > 240),
      expect.toSatisfy((green: number) => green < 15),
      expect.toSatisfy((blue: number) => blue < 15),
    ]);
  });

  test("are refused before they are read if they have more than 5 MB", async () => {
    await expect(store(new Uint8Array(5 * 1024 * 1024 + 1))).rejects.toMatchObject({
      code: "payload_too_large",
      field: "image",
    });
  });

  test("are refused if a small file has more than 40 megapixels (decompression bomb)", async () => {
    const bomb = await canvas(8_000, 5_001).png({ compressionLevel: 9 }).toBuffer();
    expect(bomb.byteLength).toBeLessThan(500_000);
    await expect(store(bomb)).rejects.toMatchObject({ code: "invalid_request", field: "image" });
  });

  test("are refused if they are SVG, another format, truncated or invalid", async () => {
    const jpeg = await canvas(400, 400).jpeg().toBuffer();
    const png = await canvas(400, 400).png().toBuffer();
    const bad: Uint8Array[] = [
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
      Buffer.from('<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg>&x;</svg>'),
      await canvas(10, 10).tiff().toBuffer(),
      Buffer.from("%PDF-1.7"),
      jpeg.subarray(0, 200),
      jpeg.subarray(0, jpeg.byteLength - 200),
      png.subarray(0, 60),
      Buffer.concat([png.subarray(0, 16), Buffer.alloc(1000, 7)]),
      Buffer.from("RIFF\0\0\0\0WEBPVP8 "),
      new Uint8Array(0),
    ];
    const before = await db().image.count();
    for (const bytes of bad) await expect(store(bytes, "logo")).rejects.toMatchObject({ code: "invalid_request", field: "logo" });
    expect(await db().image.count()).toBe(before);
  });

  test("are not found by an unknown or invalid ID", async () => {
    for (const id of [newId(), "\0", "../../etc/passwd", "x".repeat(10_000)]) expect(await findImage(id)).toBeUndefined();
  });
});

describe("avatarSvg", () => {
  const luminance = (hex: string) => {
    const [r, g, b] = [1, 3, 5].map((at) => {
      const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
      return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };

  test.each(avatarColours)("uses colors on which white can be read (WCAG 1.4.3): %s", (colour) => {
    expect(1.05 / (luminance(colour) + 0.05)).toBeGreaterThanOrEqual(4.5);
  });

  test.each([
    ["Ada Lovelace", "AL"],
    ["ada", "A"],
    ["ada-lovelace", "AL"],
    ["Ada King Lovelace", "AL"],
    ["木村 太郎", "木太"],
    ["e\u0301mile zola", "E\u0301Z"],
    ["👩‍🚀 Ada", "A"],
    ["…", "?"],
    ["", "?"],
  ])("writes the initials of %j as %s", (name, letters) => {
    expect(initials(name)).toBe(letters);
  });

  test("returns the same valid picture for the same seed, and other colors for other seeds", async () => {
    expect(avatarSvg("Ada", "1")).toBe(avatarSvg("Ada", "1"));
    expect(new Set(Array.from({ length: 200 }, (_, i) => /fill="(#\w+)"/.exec(avatarSvg("A", `${i}`))?.[1])).size).toBe(
      avatarColours.length,
    );
    expect(await sharp(Buffer.from(avatarSvg("Ada Lovelace", "1"))).metadata()).toMatchObject({
      format: "svg",
      width: 256,
      height: 256,
    });
  });

  test("shows a name with markup, control characters or lone surrogates as text", async () => {
    const svg = avatarSvg(`<script>alert("1")</script> &amp; \u0001\ud800 '`, "1");
    expect(svg).not.toContain("<script");
    await expect(sharp(Buffer.from(svg)).metadata()).resolves.toMatchObject({ format: "svg" });
  });
});
