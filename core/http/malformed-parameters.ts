const PARAMETERS_MAX = 100;

/** Finds percent-encoding that is not UTF-8, NUL, and a flood of parameters (S51, S138). */
export function malformedParameters(encoded: string): string | undefined {
  if (encoded.split("&", PARAMETERS_MAX + 1).length > PARAMETERS_MAX) {
    return `the request has more than ${PARAMETERS_MAX} parameters`;
  }
  try {
    if (!decodeURIComponent(encoded.replaceAll("+", " ")).includes("\0")) return undefined;
  } catch {
    return "the request is not valid UTF-8";
  }
  return "the request contains a NUL character";
}
