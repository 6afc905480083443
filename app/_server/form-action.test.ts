import { expect, test } from "vitest";
import { ServiceError } from "#core/errors.ts";
import { switchAccount } from "../activate/actions.ts";
import { formAction, submitForm, text } from "./form-action.ts";
import { addRepoPublisherAction, deleteRepoPublisherAction } from "./publishers/actions.ts";
import { anybody } from "./scopes.ts";
import { sendFirstTestAction } from "./webhooks/actions.ts";

function filled(): FormData {
  const data = new FormData();
  data.append("email", "ada@example.com");
  data.append("password", "hunter22");
  return data;
}

const BEFORE = { values: {}, errors: {} };

const nowhere = () => undefined;
const failing = (error: unknown) => submitForm(filled(), () => Promise.reject(error), nowhere);

test("core's message about a field is shown beside the field, and the input stays", async () => {
  expect(await failing(new ServiceError("conflict", "This address is taken.", { field: "email" }))).toEqual({
    values: { email: "ada@example.com" },
    isSubmitted: true,
    errors: { email: "This address is taken." },
  });
});

test("core's message about a field that the form lacks is shown above the form", async () => {
  const state = await failing(new ServiceError("conflict", "This name is taken.", { field: "username" }));
  expect(state).toMatchObject({ errors: {}, message: { tone: "bad", text: "This name is taken." } });
});

test("S115 a throttled form says once how long to wait", async () => {
  const text = "Too many attempts. Try again in 2 minutes.";
  const state = await failing(new ServiceError("rate_limited", text, { retryAfterSeconds: 61 }));
  expect(state.message?.text).toBe(text);
});

test("the text of an unknown error is not shown", async () => {
  const { message, values } = await failing(new Error("column password_hash of relation user"));
  expect(message?.tone).toBe("bad");
  expect(message?.text).not.toContain("password_hash");
  expect(values).toEqual({ email: "ada@example.com" });
});

test("while the database is unavailable, the form asks the user to send it again", async () => {
  const { message } = await failing(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
  expect(message?.text).toContain("briefly unavailable");
});

test("S113 a person who must first confirm their identity is sent to the sign-in page and back", async () => {
  const stale = () => Promise.reject(new ServiceError("reauthentication_required", "Confirm your identity to continue."));
  await expect(submitForm(filled(), stale, () => "/settings/account")).rejects.toMatchObject({
    digest: expect.stringContaining("/login?reauthenticate=1&next=%2Fsettings%2Faccount"),
  });
});

test("S51 an action refuses bound arguments that no page sends, without a server error", async () => {
  const refused = { message: { tone: "bad", text: "Repository not found" } };
  expect(await addRepoPublisherAction(null as never, "oidc", BEFORE, filled())).toMatchObject(refused);
  expect(await deleteRepoPublisherAction("x" as never, {} as never, BEFORE, filled())).toMatchObject(refused);
  for (const called of [switchAccount(null as never), sendFirstTestAction(null as never, {} as never)])
    await expect(called).rejects.toMatchObject({ code: "invalid_request" });
});

test("success is reported, and the fields show the returned values", async () => {
  const work = async () => ({ message: "Saved.", values: { email: "ADA@example.com" } });
  expect(await submitForm(filled(), work, nowhere)).toEqual({
    values: { email: "ADA@example.com" },
    isSubmitted: false,
    errors: {},
    message: { tone: "good", text: "Saved." },
  });
});

test("every invalid field gets its message, and the work does not begin", async () => {
  const refuse = (_form: unknown, name: string): string => {
    throw new ServiceError("invalid_request", `Not this ${name}.`, { field: name });
  };
  const fields = { email: refuse, password: refuse, color: refuse, missing: text };
  const action = formAction(anybody, fields, () => Promise.reject(new Error("the work began")));
  expect(await action(BEFORE, filled())).toMatchObject({
    errors: { email: "Not this email.", password: "Not this password." },
    message: { tone: "bad", text: "Not this color." },
  });
});

test("S137 no field of a form is read before the scope has accepted its sender", async () => {
  const stranger = {
    argumentCount: 0,
    enter: () => Promise.reject(new ServiceError("not_found", "Repository not found")),
  } as const;
  let isRead = false;
  const action = formAction(stranger, { email: () => (isRead = true) }, async () => ({}));
  expect(await action(BEFORE, filled())).toMatchObject({ message: { text: "Repository not found" } });
  expect(isRead).toBe(false);
});

test("the first bound arguments go to the scope", async () => {
  const seen: unknown[] = [];
  const scope = {
    argumentCount: 1,
    enter: async (_form: unknown, ...own: [org: string]) => ({ page: String(seen.push(...own)) }),
  } as const;
  const refuse = () => Promise.reject(new ServiceError("invalid_request", "Not this."));
  const action = formAction(scope, { email: refuse }, async (_context, id: string) => ({ message: id }));
  await action.bind(null, "tidepool", "7")(BEFORE, filled());
  expect(seen).toEqual(["tidepool"]);
});
