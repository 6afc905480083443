import { once } from "node:events";
import { childEnvironment, env, loadSettingsFile, provideSettings } from "#core/env.ts";
import { reportStep } from "#core/instance/terminal.ts";
import { endAdmin } from "./demo/calls.ts";
import { ChildProcesses } from "./demo/child-processes.ts";
import { describeDemo, Notes } from "./demo/describe-demo.ts";
import { findBusyPort, waitForAnswer } from "./demo/ports.ts";
import { makeSampleCertificate } from "./demo/sample-certificate.ts";
import {
  documentSiteEnvironment,
  documentSiteUrl,
  type Ports,
  receiverUrl,
  sampleSitesEnvironment,
  sampleSiteUrl,
} from "./demo/samples.ts";
import { seed, seedOperator } from "./demo/seed.ts";
import { runsSpaces, seedRepos, seedSpace, seedWebhooks } from "./demo/seed-hub.ts";

/** Its own DATA_DIR keeps sample users apart. The samples run on this machine (S119), on the four ports after PORT. */
const defaults = { DATA_DIR: "./data-demo", LOG_LEVEL: "warn", OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8,::1" };

async function demo(): Promise<number> {
  loadSettingsFile();
  const given = childEnvironment();
  provideSettings(Object.fromEntries(Object.entries(defaults).filter(([name]) => !given[name])));
  const { PORT } = env();
  const ports = { service: PORT, serverSide: PORT + 1, inBrowser: PORT + 2, byDocument: PORT + 3, receiver: PORT + 4 };

  const busy = await findBusyPort(Object.values(ports));
  if (busy) {
    console.error(`Port ${busy} is in use. The demo needs ${PORT} to ${PORT + 4}; set another PORT, such as PORT=4000.`);
    return 1;
  }

  const children = new ChildProcesses();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => children.stop());
  try {
    await run(children, ports);
  } catch (error) {
    // Errors after a child has ended or a stop was requested are only consequences.
    if (!children.over.aborted) throw error;
  } finally {
    await children.stop();
  }
  return children.exitCode;
}

async function run(children: ChildProcesses, ports: Ports): Promise<void> {
  const notes = new Notes(env().DATA_DIR);
  await seedOperator(notes);
  const certificate = await makeSampleCertificate();
  // `npm run chaos -- stories` has several nodes in place of the service.
  const { KEYHOOK_SUPERVISOR: supervisor = "supervisor.ts" } = childEnvironment();
  children.start("The service", [supervisor], { NODE_EXTRA_CA_CERTS: certificate.trustedPath }, "inherit");
  await waitForAnswer(`http://localhost:${ports.service}/readyz`, children.over);
  const sample = await seed(notes, ports);
  reportStep("The sample people, organizations and apps exist");
  const origin = `http://localhost:${ports.service}`;
  children.start("The sample receiver", ["examples/webhook-receiver/start.ts"], {
    WEBHOOK_SECRET: sample.webhookSecret,
    PORT: String(ports.receiver),
  });
  // Webhooks come before the repositories, so that the repositories' events are delivered.
  await seedWebhooks(notes, origin, receiverUrl(ports));
  const hasSpaces = runsSpaces();
  if (hasSpaces) await seedSpace(notes, origin);
  await seedRepos(notes, origin);
  endAdmin();
  reportStep("The sample webhooks and repositories exist");
  const history = notes.once("repos", "history", () => children.run("The history of the samples", "scripts/demo/history/run.ts"));
  children.start("The sample sites", ["examples/sign-in-site/start.ts"], sampleSitesEnvironment(ports, sample));
  children.start(
    "The sample site with a document",
    ["examples/metadata-document-site/start.ts"],
    documentSiteEnvironment(ports, certificate.directory),
  );
  const sites = [sampleSiteUrl(ports.serverSide), sampleSiteUrl(ports.inBrowser), documentSiteUrl(ports)];
  await Promise.all([history, ...sites.map((site) => waitForAnswer(site, children.over))]);
  reportStep("The samples have a month of history");
  console.log(describeDemo({ ports, sample, hasSpaces }));
  await once(children.over, "abort");
}

process.exitCode = await demo().catch((error: Error) => {
  console.error(error.message);
  return 1;
});
