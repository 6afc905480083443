export type Deadline = ReturnType<typeof startDeadline>;

/**
 * A signal that is aborted with `outer`, or when time is up. Not `AbortSignal.any` and `AbortSignal.timeout`: the first is missing from
 * the oldest runtimes that are supported, and a long-lived signal collects a listener for each request.
 */
export function startDeadline(ms: number, outer?: AbortSignal) {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const onAbort = () => controller.abort(outer?.reason);
  const restart = (next: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isOver = true;
      controller.abort(new DOMException("Time is up", "TimeoutError"));
    }, next);
  };
  if (outer?.aborted) onAbort();
  else {
    outer?.addEventListener("abort", onAbort, { once: true });
    restart(ms);
  }
  return {
    signal: controller.signal,
    isOver: () => isOver,
    restart,
    stop() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", onAbort);
    },
  };
}
