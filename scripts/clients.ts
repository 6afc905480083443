import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./pack/pack-packages.ts";
import { runTool } from "./test/profile.ts";

/** `npm run clients` tests two versions of huggingface_hub, or none if PyPI does not respond or Python has no venv. */
const run = promisify(execFile);
const INSTALL_MAX_MS = 180_000;
const wanted = { newest: "huggingface_hub", "1.x": "huggingface_hub<2" };

const installed: Record<string, string> = {};
for (const [name, requirement] of Object.entries(wanted)) {
  const venv = join(ROOT, "node_modules/.cache/hub-clients", name);
  const python = join(venv, "bin/python");
  try {
    await run("python3", ["-m", "venv", venv], { timeout: INSTALL_MAX_MS });
    const pip = ["-m", "pip", "install", "--quiet", "--upgrade", "--retries", "0", "--disable-pip-version-check"];
    await run(python, [...pip, requirement], { timeout: INSTALL_MAX_MS });
    const { stdout } = await run(python, ["-c", "import huggingface_hub; print(huggingface_hub.__version__)"]);
    installed[`huggingface_hub ${stdout.trim()}`] = python;
  } catch (error) {
    console.log(`${requirement} could not be installed, so it is not tested: ${String(error).split("\n")[0]}`);
  }
}
if (Object.keys(installed).length > 0) {
  const environment = { HUB_CLIENTS: JSON.stringify(installed) };
  process.exitCode = await runTool("vitest", ["run", "api/python-clients.test.ts"], environment);
}
