import { describe, expect, it } from "vitest";
import { provideSettings } from "./env.ts";
import { makeLogger, requestContext } from "./log.ts";

function logged(fields: object, message = "said"): Record<string, unknown> & { text: string } {
  let text = "";
  provideSettings({ LOG_LEVEL: "info" });
  makeLogger({ write: (line) => (text += line) }).info(fields, message);
  provideSettings({ LOG_LEVEL: "silent" });
  return { ...JSON.parse(text), text };
}

describe("the log", () => {
  it("S55 contains no credential that was logged by mistake, in whatever field", () => {
    const { text } = logged({
      token: "very-secret-1",
      headers: { Authorization: "Bearer very-secret-2", cookie: "very-secret-3", accept: "text/html" },
      body: { form: { client_secret: "very-secret-4", code: "very-secret-5" } },
      list: [{ refresh_token: "very-secret-6" }],
      err: Object.assign(new Error("broken"), { response: { access_token: "very-secret-7" }, password: "very-secret-8" }),
    });
    expect(text).not.toContain("very-secret");
    expect(text.match(/\[redacted\]/g)).toHaveLength(8);
    expect(text).toContain("text/html");
  });

  it("contains an error's code and stack", () => {
    const { err } = logged({ err: Object.assign(new Error("there is no route"), { code: "ECONNREFUSED" }) });
    expect(err).toMatchObject({
      type: "Error",
      message: "there is no route",
      code: "ECONNREFUSED",
      stack: expect.stringContaining("log.test"),
    });
  });

  it("does not change the logged object", () => {
    const fields = { request: { password: "kept" } };
    logged(fields);
    expect(fields).toEqual({ request: { password: "kept" } });
  });

  it("has the request's ID on each line during the request", () => {
    const line = requestContext.run({ requestId: "r-1", pageStatus: 404 }, () => logged({ status: 200 }));
    expect(line).toMatchObject({ requestId: "r-1", status: 200, msg: "said" });
    expect(line).not.toHaveProperty("pageStatus");
    expect(logged({})).not.toHaveProperty("requestId");
  });
});
