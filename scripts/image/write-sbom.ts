import { existsSync, readFileSync } from "node:fs";
import { json } from "node:stream/consumers";
import { parseEnv } from "node:util";
import { shippedPackages } from "./shipped-packages.ts";

/**
 * `npm sbom --sbom-format cyclonedx | node scripts/image/write-sbom.ts SYSTEM APP` prints the CycloneDX document of the image. It
 * lists the npm packages of APP and of the pages, and the Debian packages of SYSTEM.
 */
type Component = { "bom-ref": string; type: string; name: string; version: string; purl?: string };
type Document = {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
};

const [system = "", app = ""] = process.argv.slice(2);
const document = (await json(process.stdin)) as Document;
const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const shipped = shippedPackages(lock.packages, (path) => existsSync(`${app}/${path}`));
const debian = debianPackages();
const root = { ...document.metadata.component, type: "application", name: lock.name };
const components = [...document.components.filter((component) => shipped.has(component["bom-ref"])), ...debian];
const known = new Set([root["bom-ref"], ...components.map((component) => component["bom-ref"])]);
const dependencies = document.dependencies
  .filter(({ ref }) => known.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => known.has(other)) }));
console.log(
  JSON.stringify({ ...document, metadata: { ...document.metadata, component: root }, components, dependencies }, null, 1),
);

function debianPackages(): Component[] {
  const { ID = "debian", VERSION_ID = "" } = parseEnv(readFileSync(`${system}/os-release`, "utf8"));
  const packages = readFileSync(`${system}/status`, "utf8")
    .split("\n\n")
    .flatMap((block) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
      if (!field("Status").endsWith(" installed")) return [];
      const [name, version] = [field("Package"), field("Version")];
      const purl = `pkg:deb/${ID}/${name}@${encodeURIComponent(version)}?arch=${field("Architecture")}&distro=${ID}-${VERSION_ID}`;
      return [{ "bom-ref": purl, type: "library", name, version, purl }];
    });
  return [{ "bom-ref": `${ID}-${VERSION_ID}`, type: "operating-system", name: ID, version: VERSION_ID }, ...packages];
}
