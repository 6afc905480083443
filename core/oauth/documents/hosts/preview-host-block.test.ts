import { expect, test } from "vitest";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { giveConsent, someone } from "../../apps/test-fixtures.ts";
import { previewHostBlock } from "./preview-host-block.ts";
import { setHostRule } from "./set-host-rule.ts";

async function seen(host: string, path = "/.well-known/oauth-cimd"): Promise<string> {
  const clientId = `https://${host}${path}`;
  const metadata = { client_id: clientId, client_name: `App of ${host}`, redirect_uris: [`https://${host}/cb`] };
  await db().oAuthClientDocument.create({
    data: { clientId, host, metadata, fetchedAt: new Date(), freshUntil: new Date() },
  });
  return clientId;
}

test("S87 an operator sees beforehand what a block ends, and it ends that and no more", async () => {
  const operator = await someone({ isOperator: true });
  const domain = `d${newId()}.example`;
  const [own, below, trusted, lookAlike] = [
    await seen(domain),
    await seen(`a.${domain}:8443`),
    await seen(`trusted.${domain}`),
    await seen(`not${domain}`),
  ];
  // Only its path names the domain.
  const elsewhere = await seen(`other${domain}`, `/${domain}`);
  await setHostRule(operator, { host: `trusted.${domain}`, rule: "allow" }, noOrigin);
  const [one, two] = [await someone(), await someone()];
  for (const clientId of [own, below, trusted, lookAlike, elsewhere]) await giveConsent(clientId, one);
  await giveConsent(own, two);

  const preview = await previewHostBlock(operator, `HTTPS://${domain.toUpperCase()}/somewhere`);
  expect(preview).toMatchObject({ host: domain, userCount: 2 });
  expect(preview.clients.map(({ clientId }) => clientId).sort()).toEqual([own, below].sort());
  expect(preview.clients[0]?.name).toMatch(/^App of/);

  const live = async () => (await db().oAuthConsent.findMany({ where: { revokedAt: null } })).map(({ clientId }) => clientId);
  expect(await live()).toEqual(expect.arrayContaining([own, below]));
  expect(await setHostRule(operator, { host: domain, rule: "block" }, noOrigin)).toMatchObject({ revokedConsents: 3 });
  expect(await live()).toEqual(expect.arrayContaining([trusted, lookAlike, elsewhere]));
  expect(await live()).not.toEqual(expect.arrayContaining([own]));
  expect(await live()).not.toEqual(expect.arrayContaining([below]));
});

test("a host nobody came from ends nothing; what is no host is refused; and only operators ask", async () => {
  const operator = await someone({ isOperator: true });
  expect(await previewHostBlock(operator, `${newId()}.example`)).toMatchObject({ clients: [], userCount: 0 });
  await expect(previewHostBlock(operator, "no host")).rejects.toMatchObject({ code: "invalid_request", field: "host" });
  await expect(previewHostBlock(await someone(), "a.example")).rejects.toMatchObject({ code: "forbidden" });
});
