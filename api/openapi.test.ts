import { expect, test } from "vitest";
import { api } from "./app.ts";

test("the OpenAPI document describes every route that is under /api, and files", async () => {
  const response = await api.request("/api/openapi.json");
  expect(response.status).toBe(200);
  const document = await response.json();
  expect(document).toMatchObject({ openapi: "3.1.0", servers: [{ url: "http://localhost:3000" }] });
  expect(document.components.securitySchemes.bearer).toEqual({ type: "http", scheme: "bearer" });
  const described = Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const routes = api.routes
    .filter(
      ({ method, path }) =>
        method !== "ALL" && (path.startsWith("/api/") || /\/(resolve|raw)\//.test(path)) && path !== "/api/openapi.json",
    )
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)(\{\.\+\})?/g, "{$1}").replace(/\*$/, "{path}")}`);
  expect(described.sort()).toEqual([...new Set(routes)].sort());
});
