import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { addProvider } from "#core/inference/providers/add-provider.ts";
import { removeProvider } from "#core/inference/providers/change-provider.ts";
import { findProviderByName, listProviders } from "#core/inference/providers/list-providers.ts";
import { command } from "./command.ts";
import { readSecret } from "./read-secret.ts";

const name = { value: "NAME", help: "the provider's name", isRequired: true } as const;

export const inferenceProviderAdd = command({
  name: "inference-provider add",
  summary: "Adds a provider that requests for inference are passed on to.",
  notes: [
    "`--key -` reads the key from standard input, so that it is in no shell history.",
    "`--model tide/small=their-name` offers a model under another name than the provider's.",
  ],
  options: {
    name,
    url: { value: "URL", help: "what stands before /chat/completions", isRequired: true, field: "baseUrl" },
    key: { value: "KEY", help: "its API key, or - to read it from standard input", field: "apiKey" },
    model: { value: "NAME[=THEIRS]", help: "a model to offer", isRepeatable: true },
    "own-network": { help: "it may be on a private address" },
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
      text: `${added.name} is added${models.length > 0 ? `, with ${models.map((each) => each.name).join(", ")}` : ""}.`,
    };
  },
});

export const inferenceProviderList = command({
  name: "inference-provider list",
  summary: "Lists the providers of inference, with their models.",
  options: {},
  async run() {
    const providers = await listProviders(operatorCommand);
    return {
      json: {
        providers: providers.map(
          ({ id, name: each, baseUrl, hasKey, last4, isOwnNetworkAllowed, createdAt, disabledAt, models }) => ({
            id,
            name: each,
            url: baseUrl,
            has_key: hasKey,
            key_last4: last4,
            own_network: isOwnNetworkAllowed,
            created_at: createdAt.toISOString(),
            disabled_at: disabledAt?.toISOString() ?? null,
            models: models.map((model) => ({ name: model.name, upstream_name: model.upstreamName, plans: model.plans })),
          }),
        ),
      },
      text:
        providers
          .map(({ name: each, baseUrl, disabledAt, models }) =>
            [each, baseUrl, disabledAt ? "disabled" : "offered", models.map((model) => model.name).join(" ") || "no models"].join(
              "\t",
            ),
          )
          .join("\n") || "There are none.",
    };
  },
});

export const inferenceProviderRemove = command({
  name: "inference-provider remove",
  summary: "Removes a provider of inference, with its key and its models.",
  options: { name },
  async run(values) {
    const provider = await findProviderByName(values.name);
    await removeProvider(operatorCommand, provider.id, noOrigin);
    return { json: { removed: provider.name }, text: `${provider.name} is removed.` };
  },
});
