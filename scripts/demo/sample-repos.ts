import type { RepoType } from "@keyhook/sdk";
import { commitsOn, gaugeCommits, readingsUntil, type SampleCommit } from "./sample-commits.ts";

export type SampleRepo = {
  type: RepoType;
  owner: string;
  name: string;
  /** The user who creates the repository. */
  maker: string;
  isPrivate?: boolean;
  sdk?: string;
  settings: Record<string, unknown>;
  commits: () => SampleCommit[];
};

const model = `---
license: apache-2.0
tags: [tides, forecasting]
---
# Tide forecasts

Predicts the height of the tide at a gauge for each hour, from the readings of the last ten days.

\`\`\`python
from forecast import height

print(height("Cuxhaven", hours=24))
\`\`\`

| Gauge | Error (cm) | Hours tested |
|---|---:|---:|
| Cuxhaven | 4.1 | 8,760 |
| Brest | 3.7 | 8,760 |
| Ystad | 2.9 | 8,760 |

This is not a warning service. The [code](forecast.py) shows how the heights are computed.
`;

const code = `"""Heights of the tide, from the ten days before."""
import math

PERIOD_HOURS = 12.42


def height(gauge: str, hours: int) -> list[float]:
    phase = sum(map(ord, gauge)) % PERIOD_HOURS
    return [round(math.cos(2 * math.pi * (hour - phase) / PERIOD_HOURS), 3) for hour in range(hours)]
`;

const tide = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tide viewer</title>
<style>
  :root { color-scheme: light dark; --sea: light-dark(#2f6f8f, #7fb8d4); --muted: light-dark(#5f6b73, #9aa7b0); }
  body { margin: 0; padding: 1.5rem; font: 1rem/1.5 system-ui, sans-serif; }
  h1 { margin: 0; font-size: 1.25rem; }
  p { margin: 0.25rem 0 1rem; color: var(--muted); }
  svg { width: 100%; height: auto; overflow: visible; }
  text { font-size: 13px; fill: var(--muted); }
</style>
<h1>Today's tide at Cuxhaven</h1>
<p id="now">Heights in centimeters above chart datum</p>
<svg id="chart" role="img" aria-labelledby="now"><g id="grid"></g><path id="water" fill="var(--sea)" fill-opacity="0.25" stroke="var(--sea)" stroke-width="2"/><g id="marks"></g></svg>
<script>
  const PERIOD = 12.42;
  const midnight = new Date().setHours(0, 0, 0, 0) / 3600000;
  const height = (hour) => 180 + 150 * Math.cos((2 * Math.PI * (midnight + hour)) / PERIOD);
  const time = (hour) => String(Math.floor(hour)).padStart(2, "0") + ":" + String(Math.floor((hour % 1) * 60)).padStart(2, "0");
  const text = (x, y, value, anchor = "middle") => '<text x="' + x + '" y="' + y + '" text-anchor="' + anchor + '">' + value + "</text>";
  const first = PERIOD - (midnight % PERIOD);
  const highs = [first - PERIOD, first, first + PERIOD].filter((hour) => hour > 0.7 && hour < 23.3);
  const hour = Date.now() / 3600000 - midnight;
  // On a narrow screen, a unit is a pixel, so that the text has its size.
  function draw() {
    const width = Math.min(720, Math.max(280, innerWidth - 48));
    const at = (hour) => [(hour * width) / 24, 230 - height(hour) * 0.62];
    const points = Array.from({ length: 145 }, (_, index) => at(index / 6).join(" "));
    const [x, y] = at(hour);
    chart.setAttribute("viewBox", "0 0 " + width + " 260");
    water.setAttribute("d", "M0 230 L" + points.join(" L") + " L" + width + " 230 Z");
    grid.innerHTML = [0, 6, 12, 18, 24].map((hour) => text(at(hour)[0], 252, time(hour), hour === 0 ? "start" : hour === 24 ? "end" : "middle")).join("");
    marks.innerHTML = highs.map((high) => text(Math.min(width - 54, Math.max(54, at(high)[0])), at(high)[1] - 10, "High water " + time(high))).join("")
      + '<path d="M' + x + ' 24V230" stroke="var(--muted)" stroke-dasharray="3 4"/><circle cx="' + x + '" cy="' + y + '" r="5" fill="var(--sea)"/>';
  }
  draw();
  addEventListener("resize", draw);
  now.textContent = "Now " + Math.round(height(hour)) + " cm; high water at " + highs.map(time).join(" and ") + ".";
</script>
`;

export const sampleRepos: readonly SampleRepo[] = [
  {
    type: "dataset",
    owner: "tidepool",
    name: "gauge-readings",
    maker: "aiko",
    isPrivate: true,
    settings: { description: "Raw readings of the gauges, for members of Tidepool." },
    commits() {
      const [first, ...others] = gaugeCommits();
      const readme = "---\ntags: [tides]\n---\n# Gauge readings\n\nRaw readings of the last day, updated six times a day.\n";
      return first ? [{ ...first, files: { ...first.files, "README.md": readme } }, ...others] : [];
    },
  },
  {
    type: "dataset",
    owner: "aiko",
    name: "storm-surges",
    maker: "aiko",
    settings: {
      description: "High waters of the last sixty years, with place and cause.",
      gated: "manual",
      gatePrompt: "The readings are for **research**. Describe what you want to use them for.",
    },
    commits: () =>
      commitsOn([26, 22, 15, 8, 2], {
        by: "aiko",
        titles: ["Add the first files", "Add 1962", "Add 1976", "Correct the place of two gauges", "Add 2013"],
        files: {
          "README.md": "---\ntags: [tides, storms]\n---\n# Storm surges\n\nSixty years of high waters.\n",
          "surges.csv": readingsUntil(Date.now()),
        },
      }),
  },
  {
    type: "space",
    owner: "mara",
    name: "tide-viewer",
    maker: "mara",
    sdk: "static",
    settings: { description: "Today's tide at Cuxhaven." },
    commits: () =>
      commitsOn([19, 18, 12, 5], {
        by: "mara",
        titles: ["Add the first files", "Mark the current time", "Use the visitor's time zone", "Show both high waters"],
        files: {
          "README.md": "---\ntitle: Tide viewer\nsdk: static\ntags: [tides]\n---\n# Tide viewer\n\nOpen `index.html`.\n",
          "index.html": tide,
        },
      }),
  },
  {
    type: "model",
    owner: "mara",
    name: "tide-forecasts",
    maker: "mara",
    settings: { description: "Hourly tide heights at three gauges." },
    commits: () =>
      commitsOn([27.1, 25.2, 24.3, 20.1, 18.2, 17.4, 13.1, 11.3, 10.2, 6.4, 4.2, 3.1, 1.2, 0.2], {
        by: "mara",
        titles: [
          "Add the first files",
          "Test against Brest",
          "Correct the phase at Ystad",
          "Train with the storms of the week",
          "Round heights to millimeters",
          "Train with the readings of the week",
          "Test against Ystad",
          "Document the units",
          "Train with the readings of the week",
          "Accept lower-case names of gauges",
          "Reject negative hours",
          "Train with the readings of the week",
          "Simplify the phase",
          "Update the table of errors",
        ],
        files: { "README.md": model, "forecast.py": code },
      }),
  },
];

export const sampleDiscussion = {
  by: "aiko",
  on: "mara/tide-forecasts",
  title: "Baltic gauges are an hour late",
  description: "At **Ystad** the forecast is an hour behind what we read. Is the time zone taken into account?",
};

export const sampleLikes = [
  { by: "aiko", on: "mara/tide-forecasts" },
  { by: "mara", on: "mara/tide-forecasts" },
];

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
