/** Exit status of a child whose start can only fail again (EX_CONFIG of sysexits.h): the supervisor gives up with it. */
export const CANNOT_START = 78;
