import type { RepoType } from "@keyhook/sdk";

export type SampleRepo = {
  type: RepoType;
  owner: string;
  name: string;
  /** Who makes it; the owner, unless that is an organization. */
  maker: string;
  isPrivate?: boolean;
  sdk?: string;
  settings: Record<string, unknown>;
  files: Record<string, string>;
};

const model = `---
license: apache-2.0
tags: [tides, forecasting]
---
# Tide forecasts

Predicts the height of the tide at a gauge, hour by hour, from what was measured in the ten days before.

\`\`\`python
from forecast import height

print(height("Cuxhaven", hours=24))
\`\`\`

| Gauge | Error (cm) | Hours tested |
|---|---:|---:|
| Cuxhaven | 4.1 | 8,760 |
| Brest | 3.7 | 8,760 |
| Ystad | 2.9 | 8,760 |

It is no warning service. How the readings are taken is told [with the code](forecast.py).
`;

const code = `"""Heights of the tide, from the ten days before."""
import math

PERIOD_HOURS = 12.42


def height(gauge: str, hours: int) -> list[float]:
    phase = sum(map(ord, gauge)) % PERIOD_HOURS
    return [round(math.cos(2 * math.pi * (hour - phase) / PERIOD_HOURS), 3) for hour in range(hours)]
`;

const readings = [
  "gauge,hour,height_cm",
  ...[211, 254, 287, 301, 292].map((height, hour) => `Cuxhaven,${hour},${height}`),
  "",
].join("\n");

/** Enough to look around in: one of each type, one that is private, one that is gated. */
export const sampleRepos: readonly SampleRepo[] = [
  {
    type: "dataset",
    owner: "tidepool",
    name: "gauge-readings",
    maker: "aiko",
    isPrivate: true,
    settings: { description: "Raw readings of 40 gauges. Of Tidepool alone." },
    files: {
      "README.md": "---\ntags: [tides]\n---\n# Gauge readings\n\nAs they come from the gauges, once an hour.\n",
      "readings.csv": readings,
    },
  },
  {
    type: "dataset",
    owner: "aiko",
    name: "storm-surges",
    maker: "aiko",
    settings: {
      description: "High waters of the last sixty years, with where and why.",
      gated: "manual",
      gatePrompt: "The readings are for **research**. Say what you want them for.",
    },
    files: {
      "README.md": "---\ntags: [tides, storms]\n---\n# Storm surges\n\nSixty years of high waters.\n",
      "surges.csv": readings,
    },
  },
  {
    type: "space",
    owner: "mara",
    name: "tide-viewer",
    maker: "mara",
    sdk: "static",
    settings: { description: "The tide of today, drawn." },
    files: {
      "README.md": "---\ntitle: Tide viewer\nsdk: static\ntags: [tides]\n---\n# Tide viewer\n\nOpen `index.html`.\n",
      "index.html": "<!doctype html>\n<title>Tide viewer</title>\n<p>High water at 14:20.</p>\n",
    },
  },
  {
    type: "model",
    owner: "mara",
    name: "tide-forecasts",
    maker: "mara",
    settings: { description: "Heights of the tide at 40 gauges, hour by hour." },
    files: { "README.md": model, "forecast.py": code },
  },
];

export const sampleDiscussion = {
  by: "aiko",
  on: "mara/tide-forecasts",
  title: "Baltic gauges are an hour late",
  description: "At **Ystad** the forecast is an hour behind what we read. Is the time zone taken into account?",
};

export const sampleCollection = {
  by: "mara",
  title: "Tides",
  description: "Everything about the height of the sea.",
  items: [
    { type: "model", id: "mara/tide-forecasts" },
    { type: "space", id: "mara/tide-viewer" },
    { type: "dataset", id: "aiko/storm-surges" },
  ],
};
