import { expect, test } from "./fixtures.ts";
import { KeyhookCli } from "./support/keyhook-cli.ts";

test("the command line signs in beside a browser, manages webhooks, and signs out", async ({
  page,
  demo,
  person,
  signInPage,
  devicePages,
}) => {
  const cli = new KeyhookCli(demo.origin);
  const login = cli.start("login");
  const code = await login.shows(/compare the code ([A-Z]{4}-[A-Z]{4})/);
  const address = await login.shows(/Open (\S+) and compare/);
  await page.goto(address);
  await signInPage.signIn(person);
  await expect(devicePages.code).toHaveValue(code);
  await devicePages.continueButton.click();
  await devicePages.confirm(code);
  await devicePages.modal.authorize();
  await devicePages.expectTitle(/You have authorized/);
  expect(await login.ended()).toMatchObject({ code: 0, stdout: expect.stringContaining(`name=${person.username} `) });

  const whoami = await cli.run("whoami", "--json");
  expect(JSON.parse(whoami.stdout)).toMatchObject({ name: person.username, email: person.email, url: demo.origin });
  const hook = "https://hooks.example.com/events";
  const made = await cli.run("webhooks", "create", "--url", hook, "--watch", `user:${person.username}`, "-q");
  const id = made.stdout.trim();
  await page.goto("/settings/webhooks");
  await expect(page.getByText("hooks.example.com").first()).toBeVisible();
  expect((await cli.run("webhooks", "ls", "-q")).stdout).toBe(`${id}\n`);
  expect((await cli.run("webhooks", "delete", id)).code).toBe(1);
  expect((await cli.run("webhooks", "delete", id, "--yes")).stdout).toBe(`id=${id}\n`);
  expect((await cli.run("webhooks", "ls")).stdout).toBe("No results found.\n");

  expect((await cli.run("logout")).code).toBe(0);
  expect(await cli.run("whoami")).toMatchObject({ code: 1, stderr: expect.stringContaining("keyhook login") });
});
