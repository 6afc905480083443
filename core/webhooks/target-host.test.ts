import { expect, test } from "vitest";
import { targetHost } from "./target-host.ts";

test.each([
  [null, ""],
  ["https://Hooks.example.com/in", "hooks.example.com:443"],
  ["http://hooks.example.com:8080/", "hooks.example.com:8080"],
  ["http://localhost:3000/spaces/Ada/tides/app/hook?x", "space:ada/tides"],
  ["http://localhost:3000/spaces/ada/tides/app/_visit/x/", "space:ada/tides"],
  ["http://localhost:3000/spaces/ada/tides/", "localhost:3000"],
  ["https://example.com/spaces/ada/tides/app/", "example.com:443"],
  ["no URL", "invalid:0"],
])("S128 deliveries to %s share the host %j", (url, host) => {
  expect(targetHost(url)).toBe(host);
});
