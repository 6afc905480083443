export type UsageBarsProps = Readonly<{
  label: string;
  /** In order of time, the last one today. */
  bars: ReadonlyArray<Readonly<{ name: string; count: number }>>;
}>;

// One unit wide each, with a gap; heights are drawn in hundredths of the highest.
const STEP = 4;
const BAR = 3;
const HEIGHT = 100;
const SMALLEST = 4;

/** A bar for each day, over the same days as its neighbours; each has its number on hover, the table has them all. */
export function UsageBars({ label, bars }: UsageBarsProps) {
  const highest = Math.max(1, ...bars.map(({ count }) => count));
  return (
    <figure>
      <svg
        role="img"
        aria-label={`${label} by day, at most ${highest.toLocaleString("en")}`}
        viewBox={`0 0 ${bars.length * STEP - (STEP - BAR)} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-16 w-full border-line border-b"
      >
        {bars.map(({ name, count }, at) => {
          const height = count === 0 ? 0 : Math.max(SMALLEST, (count / highest) * HEIGHT);
          return (
            <g key={name}>
              <title>{`${name}: ${count.toLocaleString("en")}`}</title>
              <rect x={at * STEP} y={0} width={STEP} height={HEIGHT} className="fill-transparent" />
              <rect x={at * STEP} y={HEIGHT - height} width={BAR} height={height} className="fill-ink/75" />
            </g>
          );
        })}
      </svg>
      <figcaption className="mt-1 flex justify-between text-fine text-muted">
        <span>{bars[0]?.name}</span>
        <span>today</span>
      </figcaption>
    </figure>
  );
}
