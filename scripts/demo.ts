import { once } from "node:events";
import { childEnvironment, env, loadSettingsFile, provideSettings } from "#core/env.ts";
import { ChildProcesses } from "./demo/child-processes.ts";
import { describeDemo } from "./demo/describe-demo.ts";
import { findBusyPort } from "./demo/find-busy-port.ts";
import { readNotes } from "./demo/notes.ts";
import { endAdmin } from "./demo/run-admin.ts";
import { makeSampleCertificate } from "./demo/sample-certificate.ts";
import { documentSiteEnvironment, sampleSitesEnvironment } from "./demo/sample-sites-environment.ts";
import { documentSiteUrl, type Ports, receiverUrl, sampleSiteUrl } from "./demo/samples.ts";
import { seed, seedOperator } from "./demo/seed.ts";
import { seedRepos } from "./demo/seed-repos.ts";
import { seedSpace } from "./demo/seed-space.ts";
import { seedWebhooks, webhookSecret } from "./demo/seed-webhooks.ts";
import { waitForAnswer } from "./demo/wait-for-answer.ts";

/**
 * `npm run demo`: the service with sample people, three sites that sign them in, and a receiver of webhooks. It takes the same settings as `npm start`,
 * with three other defaults: DATA_DIR is ./data-demo, so that sample people never get among real ones; warnings are logged,
 * not every request; and the service may call addresses on this machine (OUTBOUND_ALLOW_CIDRS, S119), where the samples run.
 * They listen on the four ports after PORT.
 */
const defaults = { DATA_DIR: "./data-demo", LOG_LEVEL: "warn", OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8,::1" };

async function demo(): Promise<number> {
  loadSettingsFile();
  const given = childEnvironment();
  provideSettings(Object.fromEntries(Object.entries(defaults).filter(([name]) => !given[name])));
  const { PORT } = env();
  const ports = { service: PORT, serverSide: PORT + 1, inBrowser: PORT + 2, byDocument: PORT + 3, receiver: PORT + 4 };

  const busy = await findBusyPort(Object.values(ports));
  if (busy) {
    console.error(
      `Port ${busy} is in use. The demo needs ${PORT} to ${PORT + 4}; set PORT to begin elsewhere, such as PORT=4000.`,
    );
    return 1;
  }

  const children = new ChildProcesses();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => children.stop());
  try {
    await run(children, ports);
  } catch (error) {
    // When a child ended, or everybody was asked to, what the work then ran into is only the consequence.
    if (!children.over.aborted) throw error;
  } finally {
    await children.stop();
  }
  return children.exitCode;
}

async function run(children: ChildProcesses, ports: Ports): Promise<void> {
  const notes = readNotes(env().DATA_DIR);
  await seedOperator(notes);
  const certificate = await makeSampleCertificate();
  children.start("The service", ["supervisor.ts"], { NODE_EXTRA_CA_CERTS: certificate.trustedPath });
  await waitForAnswer(`http://localhost:${ports.service}/readyz`, children.over);
  const sample = await seed(notes, ports);
  const origin = `http://localhost:${ports.service}`;
  children.start("The sample receiver", ["examples/webhook-receiver/start.ts"], {
    WEBHOOK_SECRET: webhookSecret(notes),
    PORT: String(ports.receiver),
    QUIET: "1",
  });
  // Before the repositories, so that there is something to see.
  await seedWebhooks(notes, origin, receiverUrl(ports));
  await seedSpace(notes, origin);
  await seedRepos(notes, origin);
  endAdmin();
  children.start("The sample sites", ["examples/sign-in-site/start.ts"], sampleSitesEnvironment(ports, sample));
  children.start(
    "The sample site with a document",
    ["examples/metadata-document-site/start.ts"],
    documentSiteEnvironment(ports, certificate.directory),
  );
  const sites = [sampleSiteUrl(ports.serverSide), sampleSiteUrl(ports.inBrowser), documentSiteUrl(ports)];
  for (const site of sites) await waitForAnswer(site, children.over);
  console.log(describeDemo({ ports, sample }));
  await once(children.over, "abort");
}

process.exitCode = await demo().catch((error: Error) => {
  console.error(error.message);
  return 1;
});
