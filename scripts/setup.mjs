/**
 * Prepares a checkout for the next command, and performs only the steps that are needed. Runs on the machine's own Node (20 or
 * later) before anything is installed. Therefore the files of this script are plain JavaScript, and use only Node's own modules.
 *
 *   --build     also the production build of the pages, and the packages for outsiders
 *   --packages  also those packages, without the pages
 *   --browser   also a Chromium for the browser tests
 *   --git       also git and Git LFS, for the tests that push and clone
 *   --jobs      also bubblewrap, and Podman with runc, for the tests that run jobs
 *   --database  also PgBouncer, for the tests that connect through a pooler
 *   --failover  also Patroni, etcd, HAProxy and PostgreSQL, for `npm run chaos -- failover`
 *   --nodes     also HAProxy, for `npm run chaos -- nodes`
 *   --filesystem  also MooseFS, for `npm run chaos -- filesystem`
 *   --programs  only the programs of --browser to --filesystem, even while another setup is running
 *   --quiet     does not print what it does
 */
import { provideBrowser } from "./setup/browser.mjs";
import { buildPages, generateClient, packPackages } from "./setup/build.mjs";
import { installPackages } from "./setup/install.mjs";
import { holdLock } from "./setup/lock.mjs";
import {
  provideDatabasePrograms,
  provideFailoverPrograms,
  provideFilesystemPrograms,
  provideGit,
  provideJobPrograms,
  provideNodePrograms,
} from "./setup/programs.mjs";
import { report, SetupFailed } from "./setup/run.mjs";

const flags = new Set(process.argv.slice(2));
const isQuiet = flags.has("--quiet");
const step = isQuiet ? (_line, work) => work() : report;

try {
  if (!flags.has("--programs")) await prepareCheckout();
  if (flags.has("--browser")) await provideBrowser(step);
  if (flags.has("--git")) await provideGit(step);
  if (flags.has("--jobs")) await provideJobPrograms(step);
  if (flags.has("--database")) await provideDatabasePrograms(step);
  if (flags.has("--failover")) await provideFailoverPrograms(step);
  if (flags.has("--nodes")) await provideNodePrograms(step);
  if (flags.has("--filesystem")) await provideFilesystemPrograms(step);
} catch (error) {
  if (!(error instanceof SetupFailed)) throw error;
  console.error(`setup: ${error.message}`);
  process.exitCode = 1;
}

async function prepareCheckout() {
  const release = await holdLock(isQuiet);
  try {
    await installPackages(step);
    await generateClient(step);
    if (flags.has("--build")) await buildPages(step);
    if (flags.has("--build") || flags.has("--packages")) await packPackages(step);
  } finally {
    release();
  }
}
