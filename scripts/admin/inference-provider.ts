import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { addProvider, removeProvider } from "#core/inference/providers/change-provider.ts";
import { findProviderByName, listProviders } from "#core/inference/providers/provider.ts";
import { command, listed } from "./command.ts";
import { readSecret } from "./option-values.ts";

const name = { value: "NAME", help: "the provider's name", isRequired: true } as const;

const inferenceProviderAdd = command({
  name: "inference-provider add",
  summary: "Adds a provider to which inference requests are passed.",
  notes: [
    "`--key -` reads the key from standard input, so that no shell history contains it.",
    "`--model tide/small=their-name` offers a model under a name that differs from the provider's.",
  ],
  options: {
    name,
    url: { value: "URL", help: "the part before /chat/completions", isRequired: true, field: "baseUrl" },
    key: { value: "KEY", help: "its API key, or - to read it from standard input", field: "apiKey" },
    model: { value: "NAME[=THEIRS]", help: "a model to offer", isRepeatable: true },
    "own-network": { help: "allow a private address, and a URL with http://" },
  },
  async run({ name: chosen, url, key, model, "own-network": isOwnNetworkAllowed }) {
    const models = model.map((text) => {
      const [ours = "", ...theirs] = text.split("=");
      return { name: ours, upstreamName: theirs.join("=") || undefined };
    });
    const apiKey = key === undefined ? null : await readSecret(key);
    const input = { name: chosen, baseUrl: url, apiKey, isOwnNetworkAllowed, models };
    const added = await addProvider(operatorCommand, input, noOrigin);
    return {
      json: { id: added.id, name: added.name, models: models.map((each) => each.name) },
      text: `${added.name} was added${models.length > 0 ? `, with ${models.map((each) => each.name).join(", ")}` : ""}.`,
    };
  },
});

const inferenceProviderList = command({
  name: "inference-provider list",
  summary: "Lists the inference providers, with their models.",
  options: {},
  async run() {
    const providers = await listProviders(operatorCommand);
    const json = providers.map(({ id, name, baseUrl, hasKey, last4, isOwnNetworkAllowed, createdAt, disabledAt, models }) => ({
      id,
      name,
      url: baseUrl,
      has_key: hasKey,
      key_last4: last4,
      own_network: isOwnNetworkAllowed,
      created_at: createdAt.toISOString(),
      disabled_at: disabledAt?.toISOString() ?? null,
      models: models.map((model) => ({ name: model.name, upstream_name: model.upstreamName, plans: model.plans })),
    }));
    const lines = providers.map(({ name, baseUrl, disabledAt, models }) => [
      name,
      baseUrl,
      disabledAt ? "disabled" : "offered",
      models.map((model) => model.name).join(" ") || "no models",
    ]);
    return listed({ providers: json }, lines);
  },
});

const inferenceProviderRemove = command({
  name: "inference-provider remove",
  summary: "Removes an inference provider, with its key and its models.",
  options: { name },
  async run(values) {
    const provider = await findProviderByName(values.name);
    await removeProvider(operatorCommand, provider.id, noOrigin);
    return { json: { removed: provider.name }, text: `${provider.name} was removed.` };
  },
});

export const inferenceProviderCommands = [inferenceProviderAdd, inferenceProviderList, inferenceProviderRemove];
