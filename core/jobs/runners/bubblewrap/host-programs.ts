import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { promisify } from "node:util";
import { env } from "../../../env.ts";

export const TOOLS_DIRECTORY = "/opt/keyhook/bin";

export const PATH = `${TOOLS_DIRECTORY}:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin`;

type Substitute = { note: string } | { refusal: string };

export async function substituteFor(image: string): Promise<Substitute> {
  const { name, tag } = parseImage(image);
  if (!env().JOBS_IMAGES.includes(name)) {
    const offered = env().JOBS_IMAGES.join(", ");
    return {
      refusal: `The image ${image} cannot be run here: this installation runs jobs with its own machine's programs. ${
        offered ? `Use one of these images: ${offered}. ` : ""
      }The operator can allow pulling images with JOBS_RUNNER=docker or kubernetes.`,
    };
  }
  const program = { python: "python3", node: "node" }[name];
  const version = program && (await versionOf(program));
  if (program && !version) {
    return { refusal: `The image ${image} cannot be run here: this machine has no ${program}. The operator can install it.` };
  }
  const has = version ? ` (${program} ${version})` : "";
  const asked = version && /^\d/.test(tag) && !`${version}.`.startsWith(`${/^[\d.]*\d/.exec(tag)?.[0]}.`);
  const warning = asked ? ` This is not the requested version.` : "";
  return { note: `No image was pulled: this machine's own programs${has} run the job instead of ${image}.${warning}` };
}

export function parseImage(image: string): { name: string; tag: string } {
  const [reference = ""] = image.split("@");
  const [, name = "", tag = ""] = /^(.*?)(?::([\w.-]+))?$/.exec(reference) ?? [];
  return { name: name.replace(/^(?:(?:index\.)?docker\.io\/)?(?:library\/)?/, ""), tag };
}

export async function toolLinks(): Promise<Record<string, string>> {
  if (await isThere("/usr/bin/python")) return {};
  for (const path of ["/usr/local/bin/python3", "/usr/bin/python3"]) if (await isThere(path)) return { python: path };
  return {};
}

const isThere = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

const versions = new Map<string, string | undefined>();

async function versionOf(program: string): Promise<string | undefined> {
  if (program === "node") return process.versions.node;
  if (!versions.has(program)) {
    const found = await promisify(execFile)(program, ["--version"], { timeout: 5_000 }).catch(() => undefined);
    versions.set(program, /(?<!\d)\d+(?:\.\d+)+/.exec(found?.stdout ?? "")?.[0]);
  }
  return versions.get(program);
}
