import type { RepoType } from "@keyhook/sdk";

// Runs only in a subprocess, which has parsed the YAML.

type Values = Record<string, unknown>;

const LICENSES: readonly string[] =
  `apache-2.0 mit openrail openrail++ bigscience-openrail-m creativeml-openrail-m bigcode-openrail-m
  bigscience-bloom-rail-1.0 afl-3.0 artistic-2.0 bsl-1.0 bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear c-uda cc cc0-1.0 cc-by-2.0
  cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0
  cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cdla-sharing-1.0 cdla-permissive-1.0 cdla-permissive-2.0 wtfpl ecl-2.0
  epl-1.0 epl-2.0 etalab-2.0 eupl-1.1 eupl-1.2 agpl-3.0 gfdl gpl gpl-2.0 gpl-3.0 lgpl lgpl-2.1 lgpl-3.0 lgpl-lr isc h-research
  intel-research lppl-1.3c ms-pl apple-ascl apple-amlr mpl-2.0 odc-by odbl openmdw-1.0 osl-3.0 postgresql ofl-1.1 ncsa unlicense zlib pddl
  deepfloyd-if-license fair-noncommercial-research-license llama2 llama3 llama3.1 llama3.2 llama3.3 llama4 grok2-community gemma unknown
  other`.split(/\s+/);

export function errorsOfValues(card: Values, type: RepoType): string[] {
  const { tags, sdk, license } = card;
  const licenses = [license ?? []].flat();
  return [
    ...(isListOfText(tags ?? []) ? [] : ["tags: must be a list of words."]),
    ...(sdk === undefined || typeof sdk === "string" ? [] : ["sdk: must be one word."]),
    ...(licenses.every((each) => LICENSES.includes(String(each))) ? [] : [`"license" must be one of [${LICENSES.join(", ")}]`]),
    ...(type === "model" ? errorsOfIndex(card["model-index"]) : []),
  ];
}

const isListOfText = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === "string");
const isMapping = (value: unknown): value is Values => typeof value === "object" && value !== null && !Array.isArray(value);

function errorsOfIndex(index: unknown): string[] {
  if (index === undefined || index === null) return [];
  return errorsOfList(index, "model-index", (model, at) => [
    ...requireText(model, at, ["name"]),
    ...errorsOfList(model.results, `${at}.results`, (result, at) => [
      ...requireText(result.task, `${at}.task`, ["type"]),
      ...requireText(result.dataset, `${at}.dataset`, ["type", "name"]),
      ...errorsOfList(result.metrics, `${at}.metrics`, (metric, at) => [
        ...requireText(metric, at, ["type"]),
        ...(metric.value === undefined ? [`"${at}.value" is required`] : []),
      ]),
    ]),
  ]);
}

function errorsOfList(list: unknown, at: string, errorsOf: (item: Values, at: string) => string[]): string[] {
  if (!Array.isArray(list)) return [`"${at}" must be an array`];
  return list.flatMap((item, index) => {
    const here = `${at}[${index}]`;
    return isMapping(item) ? errorsOf(item, here) : [`"${here}" must be an object`];
  });
}

function requireText(value: unknown, at: string, names: readonly string[]): string[] {
  if (!isMapping(value)) return [`"${at}" must be an object`];
  return names.filter((name) => typeof value[name] !== "string").map((name) => `"${at}.${name}" must be a string`);
}
