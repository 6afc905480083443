import { Monitor, Moon, Sun } from "lucide-react";
import { setTheme } from "../_server/set-theme.ts";
import { chosenTheme } from "../_server/theme.ts";
import { classNames } from "./class-names.ts";

const choices = [
  { theme: "system", label: "System", Icon: Monitor },
  { theme: "light", label: "Light", Icon: Sun },
  { theme: "dark", label: "Dark", Icon: Moon },
] as const;

export async function ThemeSwitch() {
  const chosen = await chosenTheme();
  return (
    <form action={setTheme}>
      <fieldset className="inline-flex rounded-control border border-line bg-surface p-0.5">
        <legend className="sr-only">Theme</legend>
        {choices.map(({ theme, label, Icon }) => (
          <button
            key={theme}
            type="submit"
            name="theme"
            value={theme}
            title={label}
            aria-pressed={theme === chosen}
            className={classNames(
              "grid size-7 place-items-center rounded-control motion-safe:transition-colors hover:text-ink",
              theme === chosen ? "bg-sunken text-ink" : "text-muted",
            )}
          >
            <span className="sr-only">{label}</span>
            <Icon className="size-4" aria-hidden="true" />
          </button>
        ))}
      </fieldset>
    </form>
  );
}
