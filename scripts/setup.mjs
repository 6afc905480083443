/**
 * Makes a checkout ready for what is about to run; every npm script that needs it calls it first. It runs on the machine's
 * own Node (20 or later) with nothing installed, so it is plain JavaScript on Node's own modules. It does only what is
 * missing, says each thing in one line on stderr, and says nothing when there is nothing to do.
 *
 *   --build     also the production build of the pages, and the packages that outsiders install
 *   --packages  also those packages, without the pages
 *   --browser   also a Chromium for the browser tests
 *   --git       also git and Git LFS, for the tests that push and clone
 *   --jobs      also bubblewrap, and Podman with runc, for the tests that run jobs
 *   --quiet     without the lines
 */
import { provideBrowser } from "./setup/browser.mjs";
import { buildPages } from "./setup/build.mjs";
import { generateClient } from "./setup/generate.mjs";
import { provideGit } from "./setup/git.mjs";
import { installPackages } from "./setup/install.mjs";
import { provideJobPrograms } from "./setup/jobs.mjs";
import { holdLock } from "./setup/lock.mjs";
import { packPackages } from "./setup/packages.mjs";
import { SetupFailed } from "./setup/run.mjs";

const flags = new Set(process.argv.slice(2));
const say = flags.has("--quiet") ? () => {} : (line) => console.error(`setup: ${line}`);

try {
  const release = await holdLock(say);
  try {
    installPackages(say);
    generateClient(say);
    if (flags.has("--build")) buildPages(say);
    if (flags.has("--build") || flags.has("--packages")) packPackages(say);
    if (flags.has("--browser")) provideBrowser(say);
    if (flags.has("--git")) provideGit(say);
    if (flags.has("--jobs")) provideJobPrograms(say);
  } finally {
    release();
  }
} catch (error) {
  if (!(error instanceof SetupFailed)) throw error;
  console.error(`setup: ${error.message}`);
  process.exitCode = 1;
}
