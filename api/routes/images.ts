import { Hono } from "hono";
import { findAvatar } from "#core/accounts/avatar.ts";
import { notFound } from "#core/errors.ts";
import { findImage } from "#core/images/stored-image.ts";

// Images are re-encoded or drawn by the service. As a second protection, no script in an image may run (S24, S82).
const headers = {
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  "X-Content-Type-Options": "nosniff",
};

export const images = new Hono()
  .get("/images/:id", async (c) => {
    const image = await findImage(c.req.param("id"));
    if (!image) throw notFound("Image");
    return c.body(Uint8Array.from(image.bytes), 200, {
      ...headers,
      "Content-Type": image.contentType,
      "Cache-Control": "public, max-age=31536000, immutable",
    });
  })
  .get("/avatars/:handle", async (c) => {
    const { bytes, contentType } = await findAvatar(c.req.param("handle"));
    return c.body(Uint8Array.from(bytes), 200, {
      ...headers,
      "Content-Type": contentType,
      "Cache-Control": "public, max-age=300",
    });
  });
