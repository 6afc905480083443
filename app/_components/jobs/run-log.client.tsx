"use client";

import { ArrowDownToLine, Copy, Download, Pause, Play, Search, WrapText } from "lucide-react";
import { useRouter } from "next/navigation";
import { startTransition, useEffect, useMemo, useRef, useState } from "react";
import { buttonClass } from "../button-class.ts";
import { classNames } from "../class-names.ts";
import { plainLine, styledLine } from "./ansi.ts";

type LogPiece = Readonly<{ seq: number; at: string; stream: string; text: string }>;

type RunLogProps = Readonly<{
  /** The path that sends new lines as server-sent events, or the whole log with `?download`. */
  logPath: string;
  pieces: readonly LogPiece[];
  isCut: boolean;
  isOver: boolean;
  emptyText: string;
}>;

type Line = { key: string; text: string; stream: string };

const LINES_MAX = 5_000;
const DRAWN_EVERY_MS = 100;

export function RunLog({ logPath, pieces: first, isCut, isOver, emptyText }: RunLogProps) {
  const router = useRouter();
  const [pieces, setPieces] = useState(first);
  const [isPaused, setPaused] = useState(false);
  const [isWrapped, setWrapped] = useState(true);
  const [search, setSearch] = useState("");
  const [isCopied, setCopied] = useState(false);
  const [state, setState] = useState<"connecting" | "live" | "over">(isOver ? "over" : "connecting");
  const frame = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  const lastSeq = useRef(first.at(-1)?.seq ?? 0);

  useEffect(() => {
    if (isOver || isPaused) return;
    const waiting: LogPiece[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      timer = undefined;
      const fresh = waiting.splice(0).filter(({ seq }) => seq > lastSeq.current);
      if (fresh.length === 0) return;
      lastSeq.current = fresh.at(-1)?.seq ?? lastSeq.current;
      setPieces((all) => [...all, ...fresh].slice(-LINES_MAX));
    };
    const source = new EventSource(`${logPath}?after=${lastSeq.current}`);
    source.onopen = () => setState("live");
    source.onerror = () => setState("connecting");
    source.addEventListener("log", ({ data }) => {
      waiting.push(...(JSON.parse(data) as LogPiece[]));
      timer ??= setTimeout(draw, DRAWN_EVERY_MS);
    });
    // The page around the log shows the run's stage.
    source.addEventListener("stage", () => startTransition(() => router.refresh()));
    source.addEventListener("over", () => {
      source.close();
      clearTimeout(timer);
      draw();
      setState("over");
      startTransition(() => router.refresh());
    });
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [isOver, isPaused, logPath, router]);

  const lines = useMemo(() => linesOf(pieces).slice(-LINES_MAX), [pieces]);
  const wanted = search.trim().toLowerCase();
  const shown = useMemo(
    () => (wanted ? lines.filter(({ text }) => plainLine(text).toLowerCase().includes(wanted)) : lines),
    [lines, wanted],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the shown lines change
  useEffect(() => {
    if (isAtEnd.current && frame.current) frame.current.scrollTop = frame.current.scrollHeight;
  }, [shown]);

  const copy = async () => {
    await navigator.clipboard.writeText(shown.map(({ text }) => plainLine(text)).join("\n"));
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  const isFollowing = state !== "over" && !isPaused;
  return (
    <div className="grid grid-cols-1">
      <div className="flex flex-wrap items-center gap-2 border-line border-b px-4 py-2.5 noscript:hidden sm:px-5">
        <label className="relative min-w-0 flex-1 basis-48">
          <span className="sr-only">Search the log</span>
          <Search className="pointer-events-none absolute top-2 left-2.5 size-4 text-muted" aria-hidden="true" />
          <input
            type="search"
            value={search}
            onChange={({ target }) => setSearch(target.value)}
            placeholder="Search the log"
            className="h-8 w-full rounded-control border border-edge bg-surface pr-2 pl-8 text-small"
          />
        </label>
        {wanted && (
          <span role="status" className="text-muted text-small">
            {shown.length.toLocaleString("en")} of {lines.length.toLocaleString("en")} {lines.length === 1 ? "line" : "lines"}
          </span>
        )}
        <span className="flex flex-wrap items-center gap-1">
          {state !== "over" && (
            <button
              type="button"
              onClick={() => setPaused(!isPaused)}
              className={buttonClass({ size: "small" }, isFollowing && state === "live" ? "text-good" : undefined)}
            >
              {isPaused ? <Play className="size-4" aria-hidden="true" /> : <Pause className="size-4" aria-hidden="true" />}
              {isPaused ? "Follow" : "Pause"}
            </button>
          )}
          <IconButton label={isWrapped ? "Do not wrap lines" : "Wrap lines"} onClick={() => setWrapped(!isWrapped)}>
            <WrapText className="size-4" aria-hidden="true" />
          </IconButton>
          <IconButton
            label="Jump to the end"
            onClick={() => {
              isAtEnd.current = true;
              frame.current?.scrollTo({ top: frame.current.scrollHeight });
            }}
          >
            <ArrowDownToLine className="size-4" aria-hidden="true" />
          </IconButton>
          <IconButton label={isCopied ? "Copied" : "Copy the visible lines"} onClick={copy}>
            <Copy className="size-4" aria-hidden="true" />
          </IconButton>
          <a
            href={`${logPath}?download`}
            aria-label="Download the whole log"
            title="Download the whole log"
            className={buttonClass({ variant: "quiet", size: "icon" })}
          >
            <Download className="size-4" aria-hidden="true" />
          </a>
        </span>
      </div>
      {(isCut || pieces.length >= LINES_MAX) && (
        <p className="border-line border-b px-4 py-2 text-muted text-small sm:px-5">
          Earlier lines are not shown;{" "}
          <a className="link" href={`${logPath}?download`}>
            download the whole log
          </a>
          .
        </p>
      )}
      {/* biome-ignore-start lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard (WCAG 2.1.1) */}
      <section
        ref={frame}
        aria-label="Output"
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 40;
        }}
        className="max-h-[32rem] min-h-40 overflow-auto bg-sunken px-4 py-3 contain-inline-size sm:px-5"
      >
        {shown.length === 0 ? (
          <p className="text-muted text-small">{wanted ? "No matching lines." : emptyText}</p>
        ) : (
          <pre className={classNames("text-small leading-5", isWrapped && "whitespace-pre-wrap break-words")}>
            {shown.map(({ key, text, stream }) => (
              <LogLine key={key} text={text} stream={stream} />
            ))}
          </pre>
        )}
      </section>
      {/* biome-ignore-end lint/a11y/noNoninteractiveTabindex: until here */}
      <p role="status" className="sr-only">
        {state === "over" ? "The job has finished." : ""}
      </p>
    </div>
  );
}

function IconButton({ label, onClick, children }: Readonly<{ label: string; onClick: () => void; children: React.ReactNode }>) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onClick}
      className={buttonClass({ variant: "quiet", size: "icon" })}
    >
      {children}
    </button>
  );
}

function LogLine({ text, stream }: Readonly<{ text: string; stream: string }>) {
  return (
    <span className={classNames("block min-h-5", stream === "system" && "text-muted italic", stream === "stderr" && "text-warn")}>
      {styledLine(text).map(({ text: part, style }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line never change
        <span key={at} className={style || undefined}>
          {part}
        </span>
      ))}
    </span>
  );
}

function linesOf(pieces: readonly LogPiece[]): Line[] {
  const lines: Line[] = [];
  const open = new Map<string, Line>();
  for (const { seq, stream, text } of pieces) {
    const parts = text.split("\n");
    const last = parts.pop() ?? "";
    parts.forEach((part, at) => {
      const begun = open.get(stream);
      if (begun && at === 0) begun.text += part;
      else lines.push({ key: `${seq}.${at}`, text: part, stream });
      if (at === 0) open.delete(stream);
    });
    if (last === "") continue;
    const begun = open.get(stream);
    if (begun) begun.text += last;
    else {
      const line = { key: `${seq}.${parts.length}`, text: last, stream };
      lines.push(line);
      open.set(stream, line);
    }
  }
  return lines;
}
