import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { env } from "#core/env.ts";
import { type AppFailure, sendAppFailure } from "./send-app-failure.ts";

const failure: AppFailure = { status: 404, error: "not_found", title: "Space not found", text: "Check its name." };

test.each([
  ["leads to the service", {}, [["/", `Go to ${env().BRAND_NAME}`]]],
  [
    "offers to sign in, if that may help",
    { mayNeedSignIn: true },
    [
      ["/login", "Sign in"],
      ["/", `Go to ${env().BRAND_NAME}`],
    ],
  ],
  ["leads to the Space, if it is known", { pagePath: "/spaces/ada/tides" }, [["/spaces/ada/tides", "Go to the Space"]]],
] as const)("the page in place of an app %s", async (_, more, steps) => {
  const server = createServer((req, res) => sendAppFailure(req, res, { ...failure, ...more })).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}`, { headers: { accept: "text/html" } });
  const links = (await answer.text()).matchAll(/<a class="button" target="_top" href="([^"]*)">([^<]*)</g);
  expect([...links].map(([, href, label]) => [href, label])).toEqual(steps.map(([path, label]) => [env().ORIGIN + path, label]));
  server.close();
});
