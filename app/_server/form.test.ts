import { expect, test } from "vitest";
import { ServiceError } from "#core/errors.ts";
import { switchAccount } from "../activate/actions.ts";
import { submitForm } from "./form.ts";
import { addRepoPublisherAction, removeRepoPublisherAction } from "./publishers/actions.ts";
import { sendFirstTestAction } from "./webhooks/actions.ts";

function filled(): FormData {
  const data = new FormData();
  data.append("email", "ada@example.com");
  data.append("password", "hunter22");
  return data;
}

const failing = (error: unknown) => submitForm(filled(), () => Promise.reject(error));

test("what core says of a field stands beside it, and what was typed stays", async () => {
  expect(await failing(new ServiceError("conflict", "This address is taken.", { field: "email" }))).toEqual({
    values: { email: "ada@example.com" },
    isSubmitted: true,
    errors: { email: "This address is taken." },
  });
});

test("what core says of a field that the form does not have stands above the form", async () => {
  const state = await failing(new ServiceError("conflict", "This name is taken.", { field: "username" }));
  expect(state).toMatchObject({ errors: {}, message: { tone: "bad", text: "This name is taken." } });
});

test("S115 a throttled form says how long to wait", async () => {
  const waitOf = async (retryAfterSeconds: number) =>
    (await failing(new ServiceError("rate_limited", "Too many attempts.", { retryAfterSeconds }))).message?.text;
  expect(await waitOf(30)).toBe("Too many attempts. Try again in a minute.");
  expect(await waitOf(61)).toBe("Too many attempts. Try again in 2 minutes.");
});

test("an unknown error is not echoed", async () => {
  const { message, values } = await failing(new Error("column password_hash of relation user"));
  expect(message?.tone).toBe("bad");
  expect(message?.text).not.toContain("password_hash");
  expect(values).toEqual({ email: "ada@example.com" });
});

test("a database that is away asks to send it again", async () => {
  const { message } = await failing(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
  expect(message?.text).toContain("not available");
});

test("S113 who has to prove who they are first is sent to sign-in and back", async () => {
  const stale = () => Promise.reject(new ServiceError("reauthentication_required", "Confirm that it is you to go on."));
  await expect(submitForm(filled(), stale, { page: "/settings/account" })).rejects.toMatchObject({
    digest: expect.stringContaining("/login?reauthenticate=1&next=%2Fsettings%2Faccount"),
  });
});

test("S51 an action that is called with what no page has bound it to is refused, and does not fail", async () => {
  const before = { values: {}, errors: {} };
  const refused = { message: { tone: "bad", text: "Repository not found" } };
  expect(await addRepoPublisherAction(null as never, "oidc", before, filled())).toMatchObject(refused);
  expect(await removeRepoPublisherAction("x" as never, {} as never, before, filled())).toMatchObject(refused);
  for (const called of [switchAccount(null as never), sendFirstTestAction(null as never, {} as never)])
    await expect(called).rejects.toMatchObject({ code: "invalid_request" });
});

test("success says so; the fields show what the work returned", async () => {
  expect(await submitForm(filled(), async () => ({ message: "Saved.", values: { email: "ADA@example.com" } }))).toEqual({
    values: { email: "ADA@example.com" },
    isSubmitted: false,
    errors: {},
    message: { tone: "good", text: "Saved." },
  });
});
