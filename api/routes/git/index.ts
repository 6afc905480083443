import { Hono } from "hono";

/** Git's own protocol; not in the OpenAPI document, since git is its only client. */
export const gitRoutes = new Hono();
